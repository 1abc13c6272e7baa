import { parseDuration, QueryCursor } from '@sluice/core'
import { decodePercent } from './cache-address.js'

/** Maximum lifetime of an entry in milliseconds: 365 days. */
const MAX_TTL_MS = 365 * 86_400_000

/** Parses query parameters without decoding escapes. Returns null for an unknown or repeated parameter. */
function readParameters(query: string, names: readonly string[]): Map<string, string> | null {
  const values = new Map<string, string>()
  if (query === '') return values
  const cursor = new QueryCursor()
  cursor.read(query)
  while (cursor.advance()) {
    const name = cursor.rawName
    if (!names.includes(name) || values.has(name)) return null
    values.set(name, cursor.rawValue)
  }
  return values
}

/**
 * Parses the lifetime of an entry from `?ttl=5m`, in milliseconds. Without a query, the space's default
 * applies.
 * @throws RangeError for an invalid value or another parameter.
 */
export function readTtl(query: string, ofSpace: number | null): number | null {
  if (query === '') return ofSpace
  const ttl = readParameters(query, ['ttl'])?.get('ttl')
  if (ttl === undefined) throw new RangeError("the only parameter allowed here is 'ttl'")
  const ms = parseDuration(ttl)
  if (ms > 0 && ms <= MAX_TTL_MS) return ms
  throw new RangeError(`the ttl '${ttl}' is not between 1ms and 365d`)
}

/** Parses a purge from `?prefix=…&tag=…`; null if the query is invalid. */
export function readPurgeOrder(
  query: string,
): { readonly prefix: string; readonly tag: string | null } | null {
  const values = readParameters(query, ['prefix', 'tag'])
  if (values === null) return null
  const prefix = decodePercent(values.get('prefix') ?? '')
  const tag = decodePercent(values.get('tag') ?? '')
  if (prefix === null || tag === null || tag.includes(' ')) return null
  return { prefix, tag: tag === '' ? null : tag }
}
