import type { YAMLError } from 'yaml'

interface Issue {
  readonly message: string
  readonly remedy: string
}

/** A syntax error in a YAML text. */
export interface SourceIssue extends Issue {
  readonly offset: number
}

const REMEDIES: Readonly<Record<string, string>> = {
  BAD_INDENT: 'check the indentation and the closing brackets',
  BLOCK_AS_IMPLICIT_KEY: 'check the indentation, or quote the string if it contains a colon',
  MULTILINE_IMPLICIT_KEY: 'check the indentation, or quote the string if it contains a colon',
  MISSING_CHAR: 'add the missing character',
  TAB_AS_INDENT: 'indent with spaces',
  BAD_DQ_ESCAPE: 'write \\\\ for a backslash, or use single quotes',
  TAG_RESOLVE_FAILED: 'remove the tag',
}

/** Issue for `path: /a/{id}` inside braces; the message of the parser is not helpful. */
const BRACES: Issue = {
  message: 'invalid YAML: an unquoted string ends here, before a { or [',
  remedy: 'inside { } and [ ], quote strings that contain brackets, for example "/orders/{id}"',
}

/** Issue for a key without a colon, which the parser calls an implicit map key. */
const NO_COLON: Issue = {
  message: 'invalid YAML: a key without a colon',
  remedy: "write ':' after the key, and check the indentation",
}

const WRONG_INDENTATION: Issue = {
  message: 'invalid YAML: wrong indentation',
  remedy: 'align this line with the other keys or list items of its block',
}

/** Issue for a value followed by a line that is indented as if it belonged to the value. */
const TOO_DEEP: Issue = {
  message: 'invalid YAML: wrong indentation: the next line is indented further than this key',
  remedy: 'align the next line with this key',
}

/** Issue for `id: a use: b` on a line of its own. */
const TWO_KEYS: Issue = {
  message: 'invalid YAML: two keys on one line',
  remedy: 'put each key on its own line, or quote the value if it contains a colon',
}

/** Issue for `{ id: a use: b }`. */
const NO_COMMA: Issue = {
  message: 'invalid YAML: two keys without a comma between them',
  remedy: 'separate them with a comma, or quote the value if it contains a colon',
}

/** Issue for two lines that the parser reads as one key. */
const OPEN_LINE: Issue = {
  message: 'invalid YAML: a missing comma or colon at the end of this line',
  remedy: 'separate the entries of { } and [ ] with commas, and write a colon after each key',
}

/** Issue for `- ` inside braces or brackets. */
const DASH: Issue = {
  message: "invalid YAML: a list item with '-' inside { } or [ ]",
  remedy: 'write the list as [a, b]',
}

/** Issue for `id:a` where `id: a` was meant. */
const NO_SPACE: Issue = {
  message: 'invalid YAML: no space after the colon',
  remedy: 'write a space after it, for example key: value',
}
/** Issue for `-id: a`. */
const NO_SPACE_AFTER_DASH: Issue = {
  message: "invalid YAML: no space after the '-' of a list item",
  remedy: 'write a space after it, for example - key: value',
}
/** Maximum number of characters of an excerpt. */
const MAX_EXCERPT = 40
/** Matches text that may be a secret: random characters, or the value of a key with such a name. */
const RANDOM = /[\w+/=-]{20,}/g
const SECRET_KEY = /^([^:]*(?:pass|secret|token|key|auth|cookie|credential)[^:]*:).*/i
/** Maximum number of characters before a brace that are searched for the start of a string. */
const MAX_GLUED = 256

/** Maximum number of characters of a line that are searched. */
const MAX_LINE = 1024

/** Error codes that leave the structure of the document intact. */
const HARMLESS: ReadonlySet<string> = new Set([
  'BAD_DQ_ESCAPE',
  'TAG_RESOLVE_FAILED',
  'BAD_ALIAS',
  'ALIAS_PROPS',
])

/** Returns the errors after which the rest of the document can still be read. */
export function isolatedIssues(errors: readonly YAMLError[]): readonly SourceIssue[] {
  return errors.filter((error) => HARMLESS.has(error.code)).map(issueOf)
}

/** Returns the first error that breaks the structure, or null. Later ones are mostly consequences of it. */
export function breakingIssue(errors: readonly YAMLError[], text: string): SourceIssue | null {
  const [breaking] = errors.filter((error) => !HARMLESS.has(error.code)).sort((a, b) => a.pos[0] - b.pos[0])
  if (breaking === undefined) return null
  const [offset] = breaking.pos
  const known =
    (breaking.code === 'MISSING_CHAR' ? gluedBrace(offset, text) : null) ??
    openQuote(breaking, text) ??
    layoutIssue(breaking, text)
  return withExcerpt(known === null ? issueOf(breaking) : { offset, ...known }, text)
}

/** Adds the text at the position of an issue, without values that may be secret. */
function withExcerpt(issue: SourceIssue, text: string): SourceIssue {
  const line = text
    .slice(issue.offset, issue.offset + MAX_LINE)
    .split('\n', 1)[0]!
    .trim()
  const start = text.lastIndexOf('\n', issue.offset - 1) + 1
  const isSecret = SECRET_KEY.test(text.slice(Math.max(start, issue.offset - MAX_LINE), issue.offset))
  const shown = line.replace(SECRET_KEY, '$1 …').replaceAll(RANDOM, '…')
  if (isSecret || shown === '') return issue
  const cut = shown.length > MAX_EXCERPT ? `${shown.slice(0, MAX_EXCERPT)}…` : shown
  return { ...issue, message: `${issue.message}, near '${cut}'` }
}

/** Finds the quote that opens a string without an end, or with an end in a later line than was meant. */
function openQuote({ code, message, pos: [offset] }: YAMLError, text: string): SourceIssue | null {
  const missing = /^Missing closing (["'])/.exec(message)?.[1]
  const before = text.slice(0, offset).trimEnd()
  const quote = missing ?? (code === 'UNEXPECTED_TOKEN' ? /["']$/.exec(before)?.[0] : undefined)
  if (quote === undefined) return null
  const end = missing === undefined ? before.length - 2 : offset - 1
  let start = text.lastIndexOf(quote, end)
  // An escaped quote belongs to the string.
  while (start > 0 && (quote === '"' ? text[start - 1] === '\\' : text[start - 1] === quote))
    start = text.lastIndexOf(quote, start - 2)
  const isOneLine = missing === undefined && !text.slice(start, end).includes('\n')
  if (start < 0 || isOneLine) return null
  return {
    offset: start,
    message: `invalid YAML: the quote ${quote} that opens here is not closed in its line`,
    remedy: `add ${quote} at the end of the text`,
  }
}

/**
 * Detects an unquoted string before a brace, such as `[http://${env:HOST}]`, which the parser reads as a key.
 */
function gluedBrace(offset: number, text: string): SourceIssue | null {
  if (text[offset] !== '{' && text[offset] !== '[') return null
  const before = text.slice(Math.max(0, offset - MAX_GLUED), offset)
  const length = before.length - before.search(/[^\s[\]{},]*$/)
  return length === 0 ? null : { offset: offset - length, ...BRACES }
}

/** Returns the issue for a mistake in the layout of lines, whose message in the parser is not helpful, or null. */
function layoutIssue({ code, message, pos: [offset] }: YAMLError, text: string): Issue | null {
  const line = text.slice(offset, offset + MAX_LINE).split('\n', 1)[0]!
  if (code === 'BLOCK_IN_FLOW') return /^-\s/.test(line) ? DASH : NO_COMMA
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const whole = text.slice(Math.max(start, offset - MAX_LINE), offset) + line
  if (/^\s*-[A-Za-z]/.test(whole)) return NO_SPACE_AFTER_DASH
  if (message.startsWith('Nested mappings are not')) return /:\s/.test(line) ? TWO_KEYS : TOO_DEEP
  const isKey = /^\s*(?:- )?[\w-]+:[^\s:/]\S*\s*$/.test(whole)
  if (isKey && /IMPLICIT_KEY|MISSING_CHAR/.test(code)) return NO_SPACE
  if (message.startsWith('Unexpected scalar at node end'))
    return /(^|\n) *$/.test(text.slice(Math.max(0, offset - MAX_LINE), offset)) ? WRONG_INDENTATION : null
  if (code === 'MULTILINE_IMPLICIT_KEY' && !message.startsWith('Implicit map keys')) return OPEN_LINE
  const isAlignment = /^(All mapping items must|Sequence item without|A block sequence may not)/.test(message)
  return isAlignment ? WRONG_INDENTATION : null
}

function issueOf(error: YAMLError): SourceIssue {
  if (/^Unexpected flow-(map|seq)-start /.test(error.message)) return { offset: error.pos[0], ...BRACES }
  if (error.message.startsWith('Implicit map keys need')) return { offset: error.pos[0], ...NO_COLON }
  const [, bracket] = /^Flow \w+ in block collection must .* end with a (.)/.exec(error.message) ?? []
  if (bracket !== undefined)
    return {
      offset: error.pos[0],
      message: `invalid YAML: ${bracket} is missing, or lines before it are not indented`,
      remedy: 'close the bracket, and indent all lines inside it',
    }
  const [, reserved] = /^Plain value cannot start with .* (.)$/.exec(error.message) ?? []
  if (reserved !== undefined)
    return {
      offset: error.pos[0],
      message: `invalid YAML: a value cannot start with ${reserved}`,
      remedy: `put it in quotes, for example "${reserved}..."`,
    }
  const message = error.message.replace(/\.$/, '')
  return {
    offset: error.pos[0],
    message: `invalid YAML: ${message.slice(0, 1).toLowerCase()}${message.slice(1)}`,
    remedy: REMEDIES[error.code] ?? 'fix the syntax here',
  }
}
