import { parseDuration, QueryCursor } from '@sluice/core'
import { bytesOfEscapes } from './cache-address.js'

/** An entry stays at most this long: 365 days. */
const MAX_TTL_MS = 365 * 86_400_000

/** The parameters of a query, escapes not resolved; null: there is one of another name, or one twice. */
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
 * How long an entry is to stay, from `?ttl=5m`, ms; absent: what its space says.
 * @throws RangeError that says what is wrong.
 */
export function readTtl(query: string, ofSpace: number | null): number | null {
  if (query === '') return ofSpace
  const ttl = readParameters(query, ['ttl'])?.get('ttl')
  if (ttl === undefined) throw new RangeError("a value is put with no other parameter than 'ttl'")
  const ms = parseDuration(ttl)
  if (ms > 0 && ms <= MAX_TTL_MS) return ms
  throw new RangeError(`the ttl '${ttl}' is not between 1ms and 365d`)
}

/** What to purge, from `?prefix=…&tag=…`; null: the query says something else. */
export function readPurgeOrder(
  query: string,
): { readonly prefix: string; readonly tag: string | null } | null {
  const values = readParameters(query, ['prefix', 'tag'])
  if (values === null) return null
  const prefix = bytesOfEscapes(values.get('prefix') ?? '')
  const tag = bytesOfEscapes(values.get('tag') ?? '')
  if (prefix === null || tag === null || tag.includes(' ')) return null
  return { prefix, tag: tag === '' ? null : tag }
}
