import type { YAMLError } from 'yaml'
import type { Issue } from '../issue.js'

/** A syntax error in the text of a document. */
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

/** Maximum number of characters before a brace that are searched for the start of a string. */
const MAX_GLUED = 256

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
  return (breaking.code === 'MISSING_CHAR' ? gluedBrace(breaking.pos[0], text) : null) ?? issueOf(breaking)
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

function issueOf(error: YAMLError): SourceIssue {
  if (/^Unexpected flow-(map|seq)-start /.test(error.message)) return { offset: error.pos[0], ...BRACES }
  if (error.message.startsWith('Implicit map keys need')) return { offset: error.pos[0], ...NO_COLON }
  const message = error.message.replace(/\.$/, '')
  return {
    offset: error.pos[0],
    message: `invalid YAML: ${message.slice(0, 1).toLowerCase()}${message.slice(1)}`,
    remedy: REMEDIES[error.code] ?? 'fix the syntax here',
  }
}
