import { isUtf8 } from 'node:buffer'
import { lenientUtf8 } from './lenient-utf8.js'

/**
 * A decoding pass that undoes one kind of obfuscation. Each takes linear time. All passes together at most triple the
 * length of a text.
 */
export type DecodePass = 'url' | 'html' | 'unicode' | 'base64' | 'comments' | 'spaces'

const ESCAPED_BYTES = /%u([0-9a-f]{4})|((?:%[0-9a-f]{2})+)/gi
/** Browsers accept any number of leading zeros, and a few names without a semicolon (HTML 13.2.5.72 and following). */
const ENTITY = /&(?:#x0*([0-9a-f]{1,8});?|#0*(\d{1,9});?|([a-z]{2,16});|(?:amp|lt|gt|quot|nbsp))/gi
const OPEN_ENTITY = /^&(amp|lt|gt|quot|nbsp)/i
/** URL schemes that run code. Browsers ignore tabs and line breaks anywhere in a URL. */
const CUT_SCHEME = new RegExp(
  ['javascript', 'vbscript', 'livescript', 'data']
    .map((name) => `${[...name].join('[\\t\\n\\r]*')}[\\t\\n\\r]*:`)
    .join('|'),
  'gi',
)
const HAS_CUT = /[\t\n\r]/
const CUTS = /[\t\n\r]+/g
const ESCAPE = /\\(?:u[0-9a-f]{4}|u\{[0-9a-f]{1,8}\}|x[0-9a-f]{2}|[\\/"'nrtbf])/gi
/**
 * Compatibility forms of ASCII: other widths, small, circled and mathematical letters. Their plain form has at most
 * three characters.
 */
const COMPATIBLE = /[\u2100-\u214f\u2460-\u24ff\ufe50-\ufe6f\uff01-\uffee\u{1d400}-\u{1d7ff}]/gu
/** Characters that Unicode defines as invisible. */
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

/** Named HTML references for ASCII, spaces and invisible characters, by lower-case name. */
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

/** Syntax that hides text from some readers but not from others. Such a text is examined both with and without it. */
interface Disguise {
  /** Pass that undoes it. */
  readonly pass: DecodePass
  isIn(text: string): boolean
  undo(text: string): string
}

const DISGUISES: readonly Disguise[] = [
  { pass: 'comments', isIn: (text) => text.includes('/*'), undo: withoutComments },
  { pass: 'html', isIn: (text) => text.includes('<!') || text.includes('<?'), undo: withoutMarkup },
  { pass: 'unicode', isIn: (text) => text.includes(TAG_HIGH), undo: withoutTags },
]

/** Passes that may remove what a pattern looks for. For example, `\\b` may end a path or be an escaped character. */
const LOSSY: ReadonlySet<DecodePass> = new Set(['unicode', 'base64'])

/**
 * Returns all readings of a text: as written, before each lossy pass, and after each round of passes until nothing
 * changes. SQL comments hide text only from SQL, so a text with comments is examined with and without them. The same
 * applies to XML and HTML comments and to tag characters.
 * @param rounds maximum number of rounds. Deeper obfuscation is not decoded.
 */
export function readingsOf(text: string, passes: readonly DecodePass[], rounds: number): readonly string[] {
  const plain = chainOf(text, passes, [], rounds)
  const disguises = DISGUISES.filter(({ pass, isIn }) => passes.includes(pass) && plain.some(isIn))
  if (disguises.length === 0) return plain
  const sets = disguises.length === 1 ? [disguises] : [...disguises.map((disguise) => [disguise]), disguises]
  return [...new Set([...plain, ...sets.flatMap((set) => chainOf(text, passes, set, rounds))])]
}

function chainOf(
  text: string,
  passes: readonly DecodePass[],
  disguises: readonly Disguise[],
  rounds: number,
): readonly string[] {
  const readings = [text]
  let last = text
  for (let round = 0; round < rounds; round++) {
    let next = last
    for (let i = 0; i < passes.length; i++) {
      const before = next
      for (const { pass, undo } of disguises) if (pass === passes[i]) next = undo(next)
      next = PASSES[passes[i]!](next)
      if (next !== before && before !== last && LOSSY.has(passes[i]!)) readings.push(before)
    }
    if (next === last) break
    readings.push(next)
    last = next
  }
  return readings
}

/** Decodes URL escapes except `+`, including the `%u0027` of some servers and overlong UTF-8. */
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

/** Decodes JSON and script escapes and wide forms of ASCII, and removes invisible characters. */
function withoutUnicodeEscapes(text: string): string {
  const plain = text.includes('\\') ? text.replace(ESCAPE, (written) => meaning(written)) : text
  if (!HAS_UNUSUAL.test(plain)) return plain
  return plain.replace(INVISIBLE, '').replace(COMPATIBLE, (one) => one.normalize('NFKC'))
}

/** Decodes tag characters: invisible doubles of ASCII that programs can still read. */
function withoutTags(text: string): string {
  return text.replace(TAG, (one) => String.fromCodePoint(one.codePointAt(0)! - TAG_DISTANCE))
}

/** Removes XML comments and instructions, and unwraps CDATA sections. */
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

/** Returns the end of the markup at a position and its remaining content. Unclosed markup is text. */
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

/** Decodes base64: a whole text or long values in it, if the result is text. */
function withoutBase64(text: string): string {
  return BASE64.test(text) ? decodedToken(text) : text.replace(BASE64_TOKEN, decodedToken)
}

function decodedToken(token: string): string {
  if (token.replace(/[=\s]+/g, '').length % 4 === 1) return token
  const bytes = Buffer.from(token, 'base64')
  const text = isUtf8(bytes) ? bytes.toString('utf8') : token
  return text === '' || CONTROLS_OF_BYTES.test(text) ? token : text
}

/** Removes comments as SQL does. MySQL executes the content of a comment that begins with `!` and a version. */
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
