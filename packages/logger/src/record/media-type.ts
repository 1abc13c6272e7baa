import { mediaType } from '@sluice/core'

/** Textual media types other than `text/*`, by subtype or structured suffix. */
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

/** Returns true if a media type is textual. Parameters are ignored. */
export function isTextual(contentType: string): boolean {
  const type = mediaType(contentType)
  if (type.startsWith('text/')) return true
  const slash = type.indexOf('/')
  return slash > 0 && TEXTUAL.has(type.slice(Math.max(slash, type.lastIndexOf('+')) + 1))
}
