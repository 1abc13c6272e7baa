/** Text formats. Images, videos and archives are already compressed. */
export const DEFAULT_TYPES: readonly string[] = [
  'text/*',
  'application/json',
  'application/*+json',
  'application/x-ndjson',
  'application/json-seq',
  'application/javascript',
  'application/xml',
  'application/*+xml',
  'application/wasm',
  'application/x-www-form-urlencoded',
  'application/yaml',
  'image/svg+xml',
  'image/bmp',
  'font/otf',
  'font/ttf',
]

/** Streaming types. Readers expect every chunk to arrive at once. */
const STREAMS: ReadonlySet<string> = new Set([
  'text/event-stream',
  'application/x-ndjson',
  'application/json-seq',
])

/** True if every chunk of such a body must be flushed. @param type in lower case, without parameters. */
export function isStreamType(type: string): boolean {
  return STREAMS.has(type)
}

/**
 * Compiles patterns into a test for media types. A pattern is a type, `text/*`, a suffix
 * (`application/*+json`), or all types.
 * @param patterns `text/event-stream` only matches if it is listed itself.
 */
export function compileTypes(patterns: readonly string[]): (type: string) => boolean {
  const lower = patterns.map((pattern) => pattern.toLowerCase())
  const exact = new Set(lower.filter((pattern) => !pattern.includes('*')))
  const wild = lower.filter((pattern) => pattern.includes('*'))
  return (type) => {
    if (exact.has(type)) return true
    if (type === '' || type === 'text/event-stream') return false
    return wild.some((pattern) => matches(type, pattern))
  }
}

function matches(type: string, pattern: string): boolean {
  if (pattern === '*/*') return true
  const star = pattern.indexOf('*')
  return type.startsWith(pattern.slice(0, star)) && type.endsWith(pattern.slice(star + 1))
}
