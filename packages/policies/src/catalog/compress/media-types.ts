/** Text in many forms; images, films and archives are compressed already. */
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

/** Bodies that live on each piece arriving at once. */
const STREAMS: ReadonlySet<string> = new Set([
  'text/event-stream',
  'application/x-ndjson',
  'application/json-seq',
])

/** Whether a reader waits for every piece of such a body. @param type in lower case, without parameters. */
export function isStreamType(type: string): boolean {
  return STREAMS.has(type)
}

/**
 * Whether one of the patterns is for a type: the type itself, `text/*`, a suffix (`application/*+json`), or all.
 * @param patterns of which a stream of events needs its own name.
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
