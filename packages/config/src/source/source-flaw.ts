import type { YAMLError } from 'yaml'
import type { Flaw } from '../flaw.js'

/** A mistake in the text of a document, before anything is known about its meaning. */
export interface SourceFlaw extends Flaw {
  readonly offset: number
}

const REMEDIES: Readonly<Record<string, string>> = {
  BAD_INDENT: 'check the indentation and the closing brackets',
  BLOCK_AS_IMPLICIT_KEY: 'check the indentation, or quote the text if it holds a colon',
  MULTILINE_IMPLICIT_KEY: 'check the indentation, or quote the text if it holds a colon',
  MISSING_CHAR: 'add what is missing',
  TAB_AS_INDENT: 'indent with spaces',
  BAD_DQ_ESCAPE: 'write \\\\ for a backslash, or use single quotes',
  TAG_RESOLVE_FAILED: 'remove the tag',
}

/** `path: /a/{id}` within braces: the parser stumbles over the brace, and its words help nobody. */
const BRACES: Flaw = {
  message: 'not valid YAML: a text without quotes ends here, before a { or [',
  remedy: 'within { } and [ ], quote a text that holds brackets, for example "/orders/{id}"',
}

/** `routes` without its colon; the parser calls it an implicit map key. */
const NO_COLON: Flaw = {
  message: 'not valid YAML: a key without a colon',
  remedy: "write ':' after the key, and check the indentation",
}

/** Characters before a brace that are looked through for where their text begins. */
const MAX_GLUED = 256

/** Codes that leave the structure of the document intact. */
const HARMLESS: ReadonlySet<string> = new Set([
  'BAD_DQ_ESCAPE',
  'TAG_RESOLVE_FAILED',
  'BAD_ALIAS',
  'ALIAS_PROPS',
])

/** Mistakes after which the rest of the document can still be read. */
export function isolatedFlaws(errors: readonly YAMLError[]): readonly SourceFlaw[] {
  return errors.filter((error) => HARMLESS.has(error.code)).map(flawOf)
}

/** The first mistake that breaks the structure, or null; those that follow it are mostly its echo. */
export function breakingFlaw(errors: readonly YAMLError[], text: string): SourceFlaw | null {
  const [breaking] = errors.filter((error) => !HARMLESS.has(error.code)).sort((a, b) => a.pos[0] - b.pos[0])
  if (breaking === undefined) return null
  return (breaking.code === 'MISSING_CHAR' ? gluedBrace(breaking.pos[0], text) : null) ?? flawOf(breaking)
}

/** `[http://${env:HOST}]`: in a sequence the parser takes the text before the brace for a key. */
function gluedBrace(offset: number, text: string): SourceFlaw | null {
  if (text[offset] !== '{' && text[offset] !== '[') return null
  const before = text.slice(Math.max(0, offset - MAX_GLUED), offset)
  const length = before.length - before.search(/[^\s[\]{},]*$/)
  return length === 0 ? null : { offset: offset - length, ...BRACES }
}

function flawOf(error: YAMLError): SourceFlaw {
  if (/^Unexpected flow-(map|seq)-start /.test(error.message)) return { offset: error.pos[0], ...BRACES }
  if (error.message.startsWith('Implicit map keys need')) return { offset: error.pos[0], ...NO_COLON }
  const message = error.message.replace(/\.$/, '')
  return {
    offset: error.pos[0],
    message: `not valid YAML: ${message.slice(0, 1).toLowerCase()}${message.slice(1)}`,
    remedy: REMEDIES[error.code] ?? 'correct the syntax here',
  }
}
