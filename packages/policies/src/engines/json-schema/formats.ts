import { createRequire } from 'node:module'
import * as standard from '@hyperjump/json-schema-formats'
import type { Ajv } from './dialect.js'

const load = createRequire(import.meta.url)

/** Longest text that a format is looked for in, in characters. */
const MAX_FORMAT_LENGTH = 4096
/** The same for host names and addresses of mail, which no standard allows to be longer. */
const MAX_NAME_LENGTH = 320

/** Formats whose texts may be long; their time is linear. */
const UNBOUNDED: ReadonlySet<string> = new Set(['byte', 'binary', 'password'])

/** The part of a format that is asked about texts. */
type Check = (text: string) => boolean

/** Formats that the library of the compiler has not, or has wrong. */
const STANDARD: Readonly<Record<string, Check>> = {
  hostname: (text) => isName(text) && standard.isHostname(text) && isIdnHostname(text),
  'idn-hostname': (text) => isName(text) && isIdnHostname(text),
  email: (text) => isName(text) && standard.isEmail(text),
  'idn-email': (text) => isName(text) && isIdnEmail(text),
  iri: (text) => isShort(text) && standard.isIri(text),
  'iri-reference': (text) => isShort(text) && standard.isIriReference(text),
  regex: (text) => isShort(text) && standard.isRegex(text),
  // The pattern of the library takes time quadratic in the length of the text.
  url: (text) => isShort(text) && isUrl(text),
}

/** Replaces the formats of a compiler by ones that are right, and look at no longer texts than anyone has use for. */
export function addBoundedFormats(ajv: Ajv): void {
  for (const [name, format] of Object.entries(ajv.formats)) {
    const check = textCheck(format)
    if (check !== null && !UNBOUNDED.has(name)) addFormat(ajv, name, (text) => isShort(text) && check(text))
  }
  for (const [name, check] of Object.entries(STANDARD)) addFormat(ajv, name, check)
  ajv.addFormat('int64', { type: 'number', validate: isInt64 })
}

/** The libraries throw for some texts that are not right. */
function addFormat(ajv: Ajv, name: string, check: Check): void {
  ajv.addFormat(name, (text: string) => {
    try {
      return check(text)
    } catch {
      return false
    }
  })
}

/** The greatest is read as 2^63, because numbers are doubles. */
function isInt64(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= 2 ** 63
}

function isShort(text: string): boolean {
  return text.length <= MAX_FORMAT_LENGTH
}

function isName(text: string): boolean {
  return text.length <= MAX_NAME_LENGTH
}

/** How a format looks at texts; null: it is for numbers, or takes every text. */
function textCheck(format: unknown): Check | null {
  if (format instanceof RegExp) return (text) => format.test(text)
  if (typeof format === 'function') return format as Check
  if (typeof format !== 'object' || format === null) return null
  const { type, validate } = format as { type?: unknown; validate?: unknown }
  return type === 'number' ? null : textCheck(validate)
}

/** A host name by RFC 5890, with letters of any script. */
function isIdnHostname(text: string): boolean {
  // One that ends with a separator is a name of the DNS, not a host name.
  if (/[.．。｡]$/.test(text)) return false
  // What cannot be one is found cheaply: the library takes a millisecond for such.
  if (/[^\x2d.0-9A-Za-z\x80-\uffff]/.test(text) || text.split(/[.．。｡]/).some((label) => label.length > 63))
    return false
  const library = load('idn-hostname') as typeof import('idn-hostname')
  return library.isIdnHostname(text)
}

/** An address of mail by RFC 6531: as one of RFC 5321, with letters of any script. */
function isIdnEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)]
  const plain = local.replace(/[^\0-\x7f]/gu, 'x')
  if (domain.startsWith('[')) return standard.isEmail(`${plain}@${domain}`)
  return at > 0 && isIdnHostname(domain) && standard.isEmail(`${plain}@example.com`)
}

function isUrl(text: string): boolean {
  return /^(?:https?|ftp):\/\/[^\s/?#]/i.test(text) && !/\s/.test(text) && URL.canParse(text)
}
