import { compilePattern, type Exchange, headerCount, headerValue, isFieldValue } from '@sluice/core'

/** Maximum length of an origin. A host name has at most 253 characters (RFC 1035). */
const MAX_ORIGIN_LENGTH = 300
const LABELS = /^(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}$/
/** Origins that do not exist. An expression that matches both of them matches every origin. */
const PROBES = ['https://a.invalid', 'http://b.invalid:81']

/** Compiled list of allowed origins. */
export interface Origins {
  /** True if every origin is allowed. */
  readonly isOpen: boolean
  /** Returns the origin of a request, or null if it has none or is not allowed. */
  allowedOf(x: Exchange): string | null
}

type Test = (origin: string) => boolean

/** Compiles the `origins`. @throws Error if an origin is invalid, or if every page could use credentials. */
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
    throw new Error(
      `the origin '${text}' with credentials lets ${who} act on behalf of your users; list the origins instead`,
    )
  }
  if (originOf(text) === text) return text
  throw new Error(
    `'${text}' is not an origin as browsers send it; write https://app.example.com in lower case, without a path and without the default port`,
  )
}

/** Returns the origin of a URL as browsers send it, or null if the URL is invalid. */
function originOf(text: string): string | null {
  try {
    const { origin, protocol, host } = new URL(text)
    // For the custom schemes of extensions and apps, `URL.origin` is 'null'.
    return origin === 'null' && host !== '' ? `${protocol}//${host}` : origin
  } catch {
    return null
  }
}

/** Compiles a wildcard such as `https://*.example.com`. The star stands for one or more whole labels. */
function wildcardTest(text: string): Test {
  const star = text.indexOf('://*.') + 3
  const [before, after] = [text.slice(0, star), text.slice(star + 1)]
  const isWhole = star > 2 && !after.includes('*') && after.lastIndexOf('.') > 0
  if (!isWhole || originOf(`${before}a${after}`) !== `${before}a${after}`)
    throw new Error(
      `'${text}' is not a valid wildcard origin; write https://*.example.com, with at least two labels after the star`,
    )
  return (origin) =>
    origin.length > before.length + after.length &&
    origin.startsWith(before) &&
    origin.endsWith(after) &&
    LABELS.test(origin.slice(before.length, -after.length))
}

function patternTest(source: string, credentials: boolean): Test {
  const pattern = compilePattern(source)
  const test: Test = (origin) => pattern.matches(origin)
  if (credentials && (PROBES.every(test) || test('null')))
    throw new Error(
      `the expression '${source}' matches every origin, or 'null', which with credentials lets every page act on behalf of your users; include the domain`,
    )
  return test
}
