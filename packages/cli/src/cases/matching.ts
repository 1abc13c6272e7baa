/** A value that differs from the expected one. */
export interface Mismatch {
  /** Place of the value, such as `response.headers.etag`. */
  readonly path: string
  readonly expected: string
  readonly actual: string
}

const PATTERN = /^\/(.+)\/(i?)$/s
const MAX_SHOWN = 500

/**
 * Compares a value with an expected one. Strings such as `/regex/` must match the whole value, `absent` stands for a
 * missing value, objects are compared partially and lists completely.
 */
export function mismatches(expected: unknown, actual: unknown, path: string): readonly Mismatch[] {
  if (expected === 'absent' && actual === undefined) return []
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length)
    return expected.flatMap((each, i) => mismatches(each, actual[i], `${path}[${i}]`))
  if (isObject(expected) && isObject(actual))
    return Object.entries(expected).flatMap(([key, value]) =>
      mismatches(value, Object.hasOwn(actual, key) ? actual[key] : undefined, `${path}.${key}`),
    )
  if (isEqual(expected, actual)) return []
  return [{ path, expected: shown(expected), actual: shown(actual) }]
}

function isEqual(expected: unknown, actual: unknown): boolean {
  if (expected === actual) return true
  if (typeof expected !== 'string' || actual === null || typeof actual === 'object' || actual === undefined)
    return false
  const [, source, flags] = PATTERN.exec(expected) ?? []
  return source !== undefined && patternOf(source, flags).test(String(actual))
}

/** Returns a pattern for whole values. One that is invalid matches only itself. */
function patternOf(source: string, flags: string | undefined): RegExp {
  try {
    return new RegExp(`^(?:${source})$`, `s${flags}`)
  } catch {
    return /(?!)/
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Formats a value for a message. */
export function shown(value: unknown): string {
  if (value === undefined) return 'absent'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`
}

/** Returns header fields by lower-case name; several lines of a field are joined. */
export function fieldsOf(headers: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = Object.create(null)
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase()
    fields[name] = name in fields ? `${fields[name]}, ${headers[i + 1]}` : headers[i + 1]!
  }
  return fields
}

/** Returns expected header fields with lower-case names and text values. */
export function expectedFields(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  )
}

/** Parses a JSON text. Returns undefined if it is invalid. */
export function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
