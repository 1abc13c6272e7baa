import { isUtf8 } from 'node:buffer'
import { lenientUtf8 } from './lenient-utf8.js'

/** One way to undo how a text is disguised. Each takes linear time and makes no text longer. */
export type DecodePass = 'url' | 'html' | 'unicode' | 'base64' | 'comments' | 'spaces'

const ESCAPED_BYTES = /%u([0-9a-f]{4})|((?:%[0-9a-f]{2})+)/gi
const ENTITY = /&(?:#x([0-9a-f]{1,8});?|#(\d{1,9});?|([a-z]{2,8});)/gi
const ESCAPE = /\\(?:u[0-9a-f]{4}|u\{[0-9a-f]{1,8}\}|x[0-9a-f]{2}|[\\/"'nrtbf])/gi
const FULL_WIDTH = /[\uff01-\uff5e]/g
const INVISIBLE = /[\u0000\u00ad\u200b-\u200d\u2060\ufeff]+/g
const BASE64 = /^\s*[A-Za-z0-9+/_-]{16,}={0,2}\s*$/
const SPACES = /[\s\u0085]+/g
const HAS_ODD_SPACE = /[\t\n\v\f\r\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]| {2}/
const FULL_WIDTH_DISTANCE = 0xfee0
const LAST_CODE_POINT = 0x10ffff

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", nbsp: ' ', tab: '\t', newline: '\n', sol: '/' },
  ...{ bsol: '\\', colon: ':', semi: ';', lpar: '(', rpar: ')', lsqb: '[', rsqb: ']', lcub: '{', rcub: '}' },
  ...{ equals: '=', num: '#', excl: '!', grave: '`', period: '.', comma: ',', dollar: '$', percnt: '%' },
  ...{ plus: '+', ast: '*', vert: '|', verbar: '|', commat: '@', quest: '?', lowbar: '_', hyphen: '-' },
}

const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

const PASSES: Readonly<Record<DecodePass, (text: string) => string>> = {
  url: withoutUrlEscapes,
  html: withoutEntities,
  unicode: withoutUnicodeEscapes,
  base64: withoutBase64,
  comments: withoutComments,
  spaces: withoutSpaces,
}

/** What these take away may be what is looked for: `\\b` is the end of a path to some, a character to others. */
const LOSSY: ReadonlySet<DecodePass> = new Set(['unicode', 'base64'])

/**
 * All readings of a text: as it is written, before each pass that takes something away, and after each round of the
 * passes until nothing changes any more. A comment hides text from SQL and from nobody else: a text with one is read
 * with it and without it.
 * @param rounds most rounds; what is disguised more often than that is not read.
 */
export function readingsOf(text: string, passes: readonly DecodePass[], rounds: number): readonly string[] {
  if (!passes.includes('comments')) return chainOf(text, passes, rounds)
  const commented = chainOf(
    text,
    passes.filter((pass) => pass !== 'comments'),
    rounds,
  )
  if (!commented.some((reading) => reading.includes('/*'))) return commented
  return [...new Set([...commented, ...chainOf(text, passes, rounds)])]
}

function chainOf(text: string, passes: readonly DecodePass[], rounds: number): readonly string[] {
  const readings = [text]
  let last = text
  for (let round = 0; round < rounds; round++) {
    let next = last
    for (let i = 0; i < passes.length; i++) {
      const before = next
      next = PASSES[passes[i]!](before)
      if (next !== before && before !== last && LOSSY.has(passes[i]!)) readings.push(before)
    }
    if (next === last) break
    readings.push(next)
    last = next
  }
  return readings
}

/** Escapes of URLs, `+` not among them, and `%u0027` as some servers take it. Too long UTF-8 forms count as well. */
function withoutUrlEscapes(text: string): string {
  if (!text.includes('%')) return text
  return text.replace(ESCAPED_BYTES, (_, unit: string | undefined, bytes: string) => {
    if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16))
    const decoded = Buffer.from(bytes.replaceAll('%', ''), 'hex')
    return isUtf8(decoded) ? decoded.toString('utf8') : lenientUtf8(decoded)
  })
}

function withoutEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(ENTITY, (all, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? all
    return character(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16), all)
  })
}

/** Escapes of JSON and of scripts, wide forms of ASCII, and characters that nobody sees. */
function withoutUnicodeEscapes(text: string): string {
  const plain = text.includes('\\') ? text.replace(ESCAPE, (written) => meaning(written)) : text
  return plain
    .replace(FULL_WIDTH, (one) => String.fromCharCode(one.charCodeAt(0) - FULL_WIDTH_DISTANCE))
    .replace(INVISIBLE, '')
}

function meaning(written: string): string {
  const name = written[1]!
  if (written.length === 2) return CONTROLS[name.toLowerCase()] ?? name
  return character(Number.parseInt(written.slice(2).replace(/[{}]/g, ''), 16), written)
}

function character(code: number, otherwise: string): string {
  return code <= LAST_CODE_POINT ? String.fromCodePoint(code) : otherwise
}

/** Only of a text that is base64 as a whole, and of what is text again. */
function withoutBase64(text: string): string {
  if (text.length % 4 === 1 || !BASE64.test(text)) return text
  const bytes = Buffer.from(text, 'base64')
  return isUtf8(bytes) ? bytes.toString('utf8') : text
}

/** A comment is a space to SQL; what stands in one that begins with `!` and a version is run by MySQL. */
function withoutComments(text: string): string {
  let start = text.indexOf('/*')
  if (start === -1) return text
  let result = ''
  let from = 0
  for (; start !== -1; start = text.indexOf('/*', from)) {
    result += `${text.slice(from, start)} `
    from = text[start + 2] === '!' ? endOfVersion(text, start + 3) : endOfComment(text, start + 2)
  }
  return (result + text.slice(from)).replaceAll('*/', ' ')
}

function endOfComment(text: string, from: number): number {
  const end = text.indexOf('*/', from)
  return end === -1 ? text.length : end + 2
}

function endOfVersion(text: string, from: number): number {
  let end = from
  while (end < from + 6 && text[end]! >= '0' && text[end]! <= '9') end++
  return end
}

function withoutSpaces(text: string): string {
  return HAS_ODD_SPACE.test(text) ? text.replace(SPACES, ' ') : text
}
