import { bytewiseUrl, escapedXml } from '@sluice/core'

/** How a value is written within a text of a format. */
export interface Syntax {
  /** What is meant by what is written; whatever is written means something. */
  decode(written: string): string
  encode(text: string): string
}

/** Text that stands for itself. */
export const PLAIN: Syntax = { decode: (written) => written, encode: (text) => text }

/** The inside of a JSON string. */
export const JSON_STRING: Syntax = {
  decode: (written) => (written.includes('\\') ? unescaped(written) : written),
  encode: (text) => JSON.stringify(text).slice(1, -1),
}

/** A plus is a space in a form, but before the first digit somebody forgot to escape that of a telephone number. */
const TELEPHONE = /^\+\d/

/** A value of a form or a query. */
export const FORM_VALUE: Syntax = {
  decode: (written) => (/[%+]/.test(written) ? bytewiseUrl(withSpaces(written)) : written),
  encode: (text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')),
}

/** The text of an XML element or attribute. */
export const XML_TEXT: Syntax = {
  decode: (written) => (/[&<]/.test(written) ? xmlDecoded(written) : written),
  encode: escapedXml,
}

const XML_NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const JSON_ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** Also reads what JSON.parse refuses: a text that was cut within an escape, an escape that is none. */
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
