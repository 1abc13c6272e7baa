import { mediaType } from '@sluice/core'

/** Media types that are text beside `text/*`, by what stands after the slash, or after its last plus. */
const TEXTUAL: ReadonlySet<string> = new Set([
  'json',
  'xml',
  'javascript',
  'ecmascript',
  'graphql',
  'yaml',
  'x-yaml',
  'toml',
  'ndjson',
  'x-ndjson',
  'jsonl',
  'sql',
  'xml-dtd',
])

/** Whether bodies of a media type are text; parameters do not matter. */
export function isTextual(contentType: string): boolean {
  const type = mediaType(contentType)
  if (type.startsWith('text/')) return true
  const slash = type.indexOf('/')
  return slash > 0 && TEXTUAL.has(type.slice(Math.max(slash, type.lastIndexOf('+')) + 1))
}
