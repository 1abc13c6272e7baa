import type { Ajv } from './dialect.js'

/** Longest text that a format is looked for in, in characters. */
const MAX_FORMAT_LENGTH = 4096

/** Formats whose texts may be long; their time is linear. */
const UNBOUNDED: ReadonlySet<string> = new Set(['byte', 'binary', 'password'])

/** The part of a format that is asked about texts. */
type Check = (text: string) => boolean

/** Replaces the formats of a compiler by ones that do not look at longer texts than anyone has use for. */
export function boundFormats(ajv: Ajv): void {
  for (const [name, format] of Object.entries(ajv.formats)) {
    const check = textCheck(format)
    if (check !== null && !UNBOUNDED.has(name))
      ajv.addFormat(name, (text: string) => isShort(text) && check(text))
  }
  // The pattern of the library takes time quadratic in the length of the text.
  ajv.addFormat('url', (text: string) => isShort(text) && isUrl(text))
}

function isShort(text: string): boolean {
  return text.length <= MAX_FORMAT_LENGTH
}

/** How a format looks at texts; null: it is for numbers, or takes every text. */
function textCheck(format: unknown): Check | null {
  if (format instanceof RegExp) return (text) => format.test(text)
  if (typeof format === 'function') return format as Check
  if (typeof format !== 'object' || format === null) return null
  const { type, validate } = format as { type?: unknown; validate?: unknown }
  return type === 'number' ? null : textCheck(validate)
}

function isUrl(text: string): boolean {
  return /^(?:https?|ftp):\/\/[^\s/?#]/i.test(text) && !/\s/.test(text) && URL.canParse(text)
}
