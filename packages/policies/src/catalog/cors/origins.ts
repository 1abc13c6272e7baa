import { compilePattern, type Exchange, headerCount, headerValue, isFieldValue } from '@sluice/core'

/** No scheme, host name and port are longer together (RFC 1035: a name has 253 characters). */
const MAX_ORIGIN_LENGTH = 300
const LABELS = /^(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}$/
/** Origins that nobody has: an expression that takes both takes every origin. */
const PROBES = ['https://a.invalid', 'http://b.invalid:81']

/** Which origins are allowed. */
export interface Origins {
  /** Every one is. */
  readonly isOpen: boolean
  /** The origin of a request as it may be repeated, or null when it has none or another than is allowed. */
  allowedOf(x: Exchange): string | null
}

type Test = (origin: string) => boolean

/** @throws Error for what is no origin, and with `credentials` for what would let everybody use them. */
export function compileOrigins(written: readonly string[], credentials: boolean): Origins {
  const exact = new Set<string>()
  const tests: Test[] = []
  for (const text of written) {
    if (text.startsWith('~')) tests.push(patternTest(text.slice(1), credentials))
    else if (text.includes('*') && text !== '*') tests.push(wildcardTest(text))
    else exact.add(exactOrigin(text, credentials))
  }
  const isOpen = exact.has('*')
  return {
    isOpen,
    allowedOf(x) {
      const origin = headerValue(x.headers, 'origin')
      if (origin === null || headerCount(x.headers, 'origin') > 1) return null
      if (origin === '*' || origin.length > MAX_ORIGIN_LENGTH || !isFieldValue(origin)) return null
      return isOpen || exact.has(origin) || tests.some((test) => test(origin)) ? origin : null
    },
  }
}

function exactOrigin(text: string, credentials: boolean): string {
  if (text === '*' || text === 'null') {
    if (!credentials) return text
    const who = text === '*' ? 'every page' : 'every sandboxed page'
    throw new Error(`the origin '${text}' with credentials lets ${who} act for your users; name the origins`)
  }
  if (originOf(text) === text) return text
  throw new Error(
    `'${text}' is not an origin as browsers write it; write https://app.example.com, in lower case, with a port unless it is the usual one, without a path`,
  )
}

/** What a browser calls the origin of a URL; null for what is none. */
function originOf(text: string): string | null {
  try {
    const { origin, protocol, host } = new URL(text)
    // Extensions and apps have schemes of their own, to which URL gives no origin.
    return origin === 'null' && host !== '' ? `${protocol}//${host}` : origin
  } catch {
    return null
  }
}

/** `https://*.example.com`: the star stands for one or more labels, never for a part of one. */
function wildcardTest(text: string): Test {
  const star = text.indexOf('://*.') + 3
  const [before, after] = [text.slice(0, star), text.slice(star + 1)]
  const isWhole = star > 2 && !after.includes('*') && after.lastIndexOf('.') > 0
  if (!isWhole || originOf(`${before}a${after}`) !== `${before}a${after}`) {
    throw new Error(
      `'${text}' is not a wildcard origin; write https://*.example.com, with at least two labels`,
    )
  }
  return (origin) =>
    origin.length > before.length + after.length &&
    origin.startsWith(before) &&
    origin.endsWith(after) &&
    LABELS.test(origin.slice(before.length, -after.length))
}

function patternTest(source: string, credentials: boolean): Test {
  const pattern = compilePattern(source)
  const test: Test = (origin) => pattern.matches(origin)
  if (credentials && (PROBES.every(test) || test('null'))) {
    throw new Error(
      `the expression '${source}' takes every origin, or 'null', which with credentials lets every page act for your users; write the domain into it`,
    )
  }
  return test
}
