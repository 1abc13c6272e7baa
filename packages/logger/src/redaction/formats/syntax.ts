import { bytewiseUrl, escapedXml } from '@sluice/core'

/** Encoding of values within a text format. */
export interface Syntax {
  /** Decodes a value. Accepts any input. */
  decode(written: string): string
  encode(text: string): string
}

/** Text without escapes. */
export const PLAIN: Syntax = { decode: (written) => written, encode: (text) => text }

/** Content of a JSON string. */
export const JSON_STRING: Syntax = {
  decode: (written) => (written.includes('\\') ? unescaped(written) : written),
  encode: (text) => JSON.stringify(text).slice(1, -1),
}

/** Unescaped plus of a phone number. Elsewhere in a form, a plus is a space. */
const TELEPHONE = /^\+\d/

/** Value of a form or query. */
export const FORM_VALUE: Syntax = {
  decode: (written) => (/[%+]/.test(written) ? bytewiseUrl(withSpaces(written)) : written),
  encode: (text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')),
}

/** Text of an XML element or attribute. */
export const XML_TEXT: Syntax = {
  decode: (written) => (/[&<]/.test(written) ? xmlDecoded(written) : written),
  encode: escapedXml,
}

const XML_NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const JSON_ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** Decodes JSON escapes tolerantly: accepts truncated and unknown escapes, which JSON.parse rejects. */
function unescaped(written: string): string {
  return written.replace(/\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g, (_, hex?: string, one?: string) =>
    hex === undefined ? (JSON_ESCAPES[one!] ?? one!) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

function withSpaces(written: string): string {
  const spaced = written.replaceAll('+', ' ')
  return TELEPHONE.test(written) ? `+${spaced.slice(1)}` : spaced
}

function xmlDecoded(written: string): string {
  const plain = written.replace(/<!\[CDATA\[([\s\S]*?)(?:\]\]>|$)/g, (_, text: string) =>
    text.replaceAll('&', '&amp;'),
  )
  return plain.replace(/&(?:#x([0-9a-fA-F]{1,6})|#(\d{1,7})|(\w{1,8}));/g, (all, hex, decimal, name) => {
    if (name !== undefined) return XML_NAMED[name] ?? all
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : all
  })
}

/** Escapes a text for use in a regular expression. */
export function escapedForRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
