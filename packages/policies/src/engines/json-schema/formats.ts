import { createRequire } from 'node:module'
import * as standard from '@hyperjump/json-schema-formats'
import type { Ajv } from './draft.js'

const load = createRequire(import.meta.url)

/** Longest text that is checked against a format, in characters. */
const MAX_FORMAT_LENGTH = 4096
/** Longest host name or email address that is checked, in characters. No standard allows longer ones. */
const MAX_NAME_LENGTH = 320

/** Formats whose texts may be long, because checking them takes linear time. */
const UNBOUNDED: ReadonlySet<string> = new Set(['byte', 'binary', 'password'])

/** Returns true if a text has the format. */
type Check = (text: string) => boolean

/** Formats that ajv-formats lacks or implements incorrectly. */
const STANDARD: Readonly<Record<string, Check>> = {
  hostname: (text) => isName(text) && standard.isHostname(text) && isIdnHostname(text),
  'idn-hostname': (text) => isName(text) && isIdnHostname(text),
  email: (text) => isName(text) && standard.isEmail(text),
  'idn-email': (text) => isName(text) && isIdnEmail(text),
  iri: (text) => isShort(text) && standard.isIri(text),
  'iri-reference': (text) => isShort(text) && standard.isIriReference(text),
  regex: (text) => isShort(text) && standard.isRegex(text),
  // The pattern of ajv-formats takes quadratic time.
  url: (text) => isShort(text) && isUrl(text),
}

/** Replaces the formats of a compiler with correct ones that limit the length of texts. */
export function addBoundedFormats(ajv: Ajv): void {
  for (const [name, format] of Object.entries(ajv.formats)) {
    const check = textCheck(format)
    if (check !== null && !UNBOUNDED.has(name)) addFormat(ajv, name, (text) => isShort(text) && check(text))
  }
  for (const [name, check] of Object.entries(STANDARD)) addFormat(ajv, name, check)
  ajv.addFormat('int64', { type: 'number', validate: isInt64 })
}

/** Adds a format check that also fails if the library throws, as it does for some invalid texts. */
function addFormat(ajv: Ajv, name: string, check: Check): void {
  ajv.addFormat(name, (text: string) => {
    try {
      return check(text)
    } catch {
      return false
    }
  })
}

/** The upper bound is 2^63 because numbers are doubles. */
function isInt64(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= 2 ** 63
}

function isShort(text: string): boolean {
  return text.length <= MAX_FORMAT_LENGTH
}

function isName(text: string): boolean {
  return text.length <= MAX_NAME_LENGTH
}

/** Returns the text check of a format, or null if the format is for numbers or accepts every text. */
function textCheck(format: unknown): Check | null {
  if (format instanceof RegExp) return (text) => format.test(text)
  if (typeof format === 'function') return format as Check
  if (typeof format !== 'object' || format === null) return null
  const { type, validate } = format as { type?: unknown; validate?: unknown }
  return type === 'number' ? null : textCheck(validate)
}

/** Returns true for a host name by RFC 5890, with letters of any script. */
function isIdnHostname(text: string): boolean {
  // A name with a trailing separator is a DNS name, not a host name.
  if (/[.．。｡]$/.test(text)) return false
  // Rejects obvious mismatches cheaply: the library takes a millisecond for them.
  if (/[^\x2d.0-9A-Za-z\x80-\uffff]/.test(text) || text.split(/[.．。｡]/).some((label) => label.length > 63))
    return false
  const library = load('idn-hostname') as typeof import('idn-hostname')
  return library.isIdnHostname(text)
}

/** Returns true for an email address by RFC 6531: RFC 5321 with letters of any script. */
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
