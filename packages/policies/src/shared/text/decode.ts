import { isUtf8 } from 'node:buffer'
import { lenientUtf8 } from './lenient-utf8.js'

/** One way to undo how a text is disguised. Each takes linear time; all together make no text longer than three times. */
export type DecodePass = 'url' | 'html' | 'unicode' | 'base64' | 'comments' | 'spaces'

const ESCAPED_BYTES = /%u([0-9a-f]{4})|((?:%[0-9a-f]{2})+)/gi
/** Browsers take any number of zeros, and a few names without their semicolon (HTML 13.2.5.72 and following). */
const ENTITY = /&(?:#x0*([0-9a-f]{1,8});?|#0*(\d{1,9});?|([a-z]{2,16});|(?:amp|lt|gt|quot|nbsp))/gi
const OPEN_ENTITY = /^&(amp|lt|gt|quot|nbsp)/i
/** Schemes of URLs that run what follows. Browsers drop tabs and line breaks wherever they stand in a URL. */
const CUT_SCHEME = new RegExp(
  ['javascript', 'vbscript', 'livescript', 'data']
    .map((name) => `${[...name].join('[\\t\\n\\r]*')}[\\t\\n\\r]*:`)
    .join('|'),
  'gi',
)
const HAS_CUT = /[\t\n\r]/
const CUTS = /[\t\n\r]+/g
const ESCAPE = /\\(?:u[0-9a-f]{4}|u\{[0-9a-f]{1,8}\}|x[0-9a-f]{2}|[\\/"'nrtbf])/gi
/** Forms of ASCII for other widths, small print, circles and formulas; their plain form is at most three characters. */
const COMPATIBLE = /[\u2100-\u214f\u2460-\u24ff\ufe50-\ufe6f\uff01-\uffee\u{1d400}-\u{1d7ff}]/gu
/** Characters that nobody sees: Unicode gives them the property, version after version. */
const INVISIBLE = /[\0\p{Default_Ignorable_Code_Point}\p{Cf}]+/gu
const HAS_UNUSUAL = /[\0\x7f-\uffff]/
const TAG = /[\u{e0020}-\u{e007e}]/gu
const TAG_HIGH = '\udb40'
const TAG_DISTANCE = 0xe0000
const BASE64 = /^\s*[A-Za-z0-9+/_-]{2,}={0,2}\s*$/
/** Matches Base64 tokens in other text: long runs, and complete values in JSON, XML or forms. */
const BASE64_TOKEN =
  /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{12,}={0,2}|(?<=["'>=])[A-Za-z0-9+/_-]{2,11}={0,2}(?=["'<&]|$)/g
const CONTROLS_OF_BYTES = /[\0-\x08\x0e-\x1f\x7f]/
const SPACES = /[\s\u0085]+/g
const HAS_ODD_SPACE = /[\t\n\v\f\r\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]| {2}/
const LAST_CODE_POINT = 0x10ffff

/** The named references of HTML that mean ASCII, spaces or nothing that is seen, by their names in lower case. */
const ENTITIES: Readonly<Record<string, string>> = {
  ...{ lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", nbsp: ' ', tab: '\t', newline: '\n', sol: '/' },
  ...{ bsol: '\\', colon: ':', semi: ';', lpar: '(', rpar: ')', lsqb: '[', rsqb: ']', lcub: '{', rcub: '}' },
  ...{ lbrack: '[', rbrack: ']', lbrace: '{', rbrace: '}', grave: '`', diacriticalgrave: '`', fjlig: 'fj' },
  ...{
    equals: '=',
    num: '#',
    excl: '!',
    period: '.',
    comma: ',',
    dollar: '$',
    percnt: '%',
    plus: '+',
    hat: '^',
  },
  ...{
    ast: '*',
    midast: '*',
    vert: '|',
    verbar: '|',
    verticalline: '|',
    commat: '@',
    quest: '?',
    lowbar: '_',
  },
  ...{ underbar: '_', hyphen: '-', nonbreakingspace: ' ', ensp: ' ', emsp: ' ', thinsp: ' ', hairsp: ' ' },
  ...{ shy: '\u00ad', zerowidthspace: '\u200b', zwnj: '\u200c', zwj: '\u200d', lrm: '\u200e', rlm: '\u200f' },
  ...{ nobreak: '\u2060' },
}

const MARKUP = [
  { open: '<!--', close: '-->', hasContent: false },
  { open: '<![CDATA[', close: ']]>', hasContent: true },
  { open: '<?', close: '?>', hasContent: false },
]

const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

const PASSES: Readonly<Record<DecodePass, (text: string) => string>> = {
  url: withoutUrlEscapes,
  html: withoutEntities,
  unicode: withoutUnicodeEscapes,
  base64: withoutBase64,
  comments: (text) => text,
  spaces: withoutSpaces,
}

/** What hides text from some readers and from others not: such a text is read with it and without it. */
interface Veil {
  /** The pass with which it is undone. */
  readonly pass: DecodePass
  isIn(text: string): boolean
  undo(text: string): string
}

const VEILS: readonly Veil[] = [
  { pass: 'comments', isIn: (text) => text.includes('/*'), undo: withoutComments },
  { pass: 'html', isIn: (text) => text.includes('<!') || text.includes('<?'), undo: withoutMarkup },
  { pass: 'unicode', isIn: (text) => text.includes(TAG_HIGH), undo: withoutTags },
]

/** What these take away may be what is looked for: `\\b` is the end of a path to some, a character to others. */
const LOSSY: ReadonlySet<DecodePass> = new Set(['unicode', 'base64'])

/**
 * All readings of a text: as it is written, before each pass that takes something away, and after each round of the
 * passes until nothing changes any more. A comment hides text from SQL and from nobody else: a text with one is read
 * with it and without it. So are the comments of XML and HTML, and characters that only name others.
 * @param rounds most rounds; what is disguised more often than that is not read.
 */
export function readingsOf(text: string, passes: readonly DecodePass[], rounds: number): readonly string[] {
  const plain = chainOf(text, passes, [], rounds)
  const veils = VEILS.filter(({ pass, isIn }) => passes.includes(pass) && plain.some(isIn))
  if (veils.length === 0) return plain
  const sets = veils.length === 1 ? [veils] : [...veils.map((veil) => [veil]), veils]
  return [...new Set([...plain, ...sets.flatMap((set) => chainOf(text, passes, set, rounds))])]
}

function chainOf(
  text: string,
  passes: readonly DecodePass[],
  veils: readonly Veil[],
  rounds: number,
): readonly string[] {
  const readings = [text]
  let last = text
  for (let round = 0; round < rounds; round++) {
    let next = last
    for (let i = 0; i < passes.length; i++) {
      const before = next
      for (const { pass, undo } of veils) if (pass === passes[i]) next = undo(next)
      next = PASSES[passes[i]!](next)
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
  if (!text.includes('&')) return withWholeSchemes(text)
  const plain = text.replace(ENTITY, (all: string, hex?: string, decimal?: string, name?: string) => {
    if (hex !== undefined || decimal !== undefined)
      return character(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16), all)
    const meant = name === undefined ? undefined : ENTITIES[name.toLowerCase()]
    return meant ?? all.replace(OPEN_ENTITY, (_, open: string) => ENTITIES[open.toLowerCase()]!)
  })
  return withWholeSchemes(plain)
}

function withWholeSchemes(text: string): string {
  if (!HAS_CUT.test(text)) return text
  return text.replace(CUT_SCHEME, (scheme) => scheme.replace(CUTS, ''))
}

/** Escapes of JSON and of scripts, wide forms of ASCII, and characters that nobody sees. */
function withoutUnicodeEscapes(text: string): string {
  const plain = text.includes('\\') ? text.replace(ESCAPE, (written) => meaning(written)) : text
  if (!HAS_UNUSUAL.test(plain)) return plain
  return plain.replace(INVISIBLE, '').replace(COMPATIBLE, (one) => one.normalize('NFKC'))
}

/** Each of ASCII's characters has another one that is shown by nobody, and read by programs that look at code points. */
function withoutTags(text: string): string {
  return text.replace(TAG, (one) => String.fromCodePoint(one.codePointAt(0)! - TAG_DISTANCE))
}

/** The text of XML: comments and instructions are nothing, and of a CDATA section its content is left. */
function withoutMarkup(text: string): string {
  let result = ''
  let from = 0
  for (let start = text.indexOf('<'); start !== -1; start = text.indexOf('<', from)) {
    const [end, content] = markupAt(text, start)
    result += text.slice(from, start) + content
    from = end
  }
  return result + text.slice(from)
}

/** Where the markup at a location ends, and what is left of it; one that is never closed is text. */
function markupAt(text: string, at: number): readonly [end: number, content: string] {
  for (const { open, close, hasContent } of MARKUP) {
    if (!text.startsWith(open, at)) continue
    const end = text.indexOf(close, at + open.length)
    if (end === -1) return [text.length, text.slice(at + open.length)]
    return [end + close.length, hasContent ? text.slice(at + open.length, end) : '']
  }
  return [at + 1, '<']
}

function meaning(written: string): string {
  const name = written[1]!
  if (written.length === 2) return CONTROLS[name.toLowerCase()] ?? name
  return character(Number.parseInt(written.slice(2).replace(/[{}]/g, ''), 16), written)
}

function character(code: number, otherwise: string): string {
  return code <= LAST_CODE_POINT ? String.fromCodePoint(code) : otherwise
}

/** Of a text that is base64 as a whole, and of long values in it; and of what is text again. */
function withoutBase64(text: string): string {
  return BASE64.test(text) ? decodedToken(text) : text.replace(BASE64_TOKEN, decodedToken)
}

function decodedToken(token: string): string {
  if (token.replace(/[=\s]+/g, '').length % 4 === 1) return token
  const bytes = Buffer.from(token, 'base64')
  const text = isUtf8(bytes) ? bytes.toString('utf8') : token
  return text === '' || CONTROLS_OF_BYTES.test(text) ? token : text
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
  return HAS_ODD_SPACE.test(text) ? withWholeSchemes(text).replace(SPACES, ' ') : text
}
