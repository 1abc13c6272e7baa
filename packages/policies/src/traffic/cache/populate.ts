import {
  type CachedValue,
  type CompileEnv,
  type Exchange,
  headerJoined,
  MAX_CACHED_BYTES,
  type Outcome,
  parseDuration,
  parseSize,
  UnreadableBody,
} from '@sluice/core'
import { Draft } from '../../shared/field-location/draft.js'
import { compileLocation } from '../../shared/field-location/location.js'
import { headersOf, type Side } from '../../shared/message/side.js'
import { compileTemplate } from '../../shared/options/template.js'
import { withContext } from '../../shared/outcome/with-context.js'
import type { CachePolicyConfig } from './schema.js'
import type { CacheUse } from './use.js'

const MAX_TTL_MS = 365 * 86_400_000
const MAX_TYPE_LENGTH = 256

/** Reads the value to store from an exchange. Null means that nothing is stored. */
interface Source {
  readonly isInBody: boolean
  read(x: Exchange, body: Uint8Array | null): CachedValue | null
}

/** Compiles `populate`. @throws Error if the configuration is invalid. */
export function compilePopulate(config: CachePolicyConfig, use: CacheUse, env: CompileEnv) {
  const { store, space, side, isClosed } = use
  if (use.key === null) throw new Error("'populate' needs 'key'")
  const source = sourceOf(config, side)
  const ttlOf = compileTtl(config, env, side)
  const maxBytes = maxBytesOf(config)
  const run = (x: Exchange, key: string | null, body: Uint8Array | null): Outcome | Promise<Outcome> => {
    const value = key === null || !mayKeep(x, source, use) ? null : source.read(x, body)
    const ttlMs = ttlOf(x)
    if (key === null || value === null || ttlMs < 1) return null
    if (value.bytes.length > maxBytes) {
      use.count('too_large')
      return null
    }
    const done = store.put(space, key, value, ttlMs).then(
      (isStored) => {
        use.count(isStored ? 'stored' : 'too_large')
        return null
      },
      (error: unknown) => use.onDown(error),
    )
    return isClosed ? done : null
  }
  return { readsBody: source.isInBody, run }
}

/**
 * True if the value may be stored. A value that came from `lookup` is not stored again, because it would
 * never expire. A partial response is not stored.
 */
function mayKeep(x: Exchange, { isInBody }: Source, { side, space }: CacheUse): boolean {
  if (side === 'request' || !isInBody) return true
  return x.status !== 206 && x.vars?.get(`cache.${space}`) !== 'hit'
}

function sourceOf({ from, json }: CachePolicyConfig, side: Side): Source {
  if ((from === undefined) === (json === undefined)) throw new Error("'populate' needs 'from' or 'json'")
  if (from === undefined) return ofJson(json)
  const location = compileLocation(from, side)
  return {
    isInBody: location.isInBody,
    read(x, body) {
      try {
        const bytes = location.read(new Draft(x, side, body))
        if (bytes === null) return null
        const type = location.isWholeBody ? headerJoined(headersOf(x, side), 'content-type') : null
        return { bytes, contentType: type !== null && type.length <= MAX_TYPE_LENGTH ? type : '' }
      } catch (error) {
        // The message is passed on unchanged, and a body that cannot be read is not stored.
        if (error instanceof UnreadableBody) return null
        throw error
      }
    },
  }
}

/** Compiles a JSON value. Values are escaped, so client input cannot add members. */
function ofJson(json: CachePolicyConfig['json']): Source {
  const escaped = (value: string): string => JSON.stringify(value).slice(1, -1)
  const template = compileTemplate(JSON.stringify(json), escaped)
  const textOf = typeof template === 'string' ? () => template : template
  return {
    isInBody: false,
    read: (x) => ({ bytes: Buffer.from(textOf(x)), contentType: 'application/json' }),
  }
}

function compileTtl(
  { ttl = '5m', ttlFrom }: CachePolicyConfig,
  env: CompileEnv,
  side: Side,
): (x: Exchange) => number {
  const fixedMs = parseDuration(ttl)
  if (fixedMs < 1 || fixedMs > MAX_TTL_MS) throw new Error("'ttl' must be between 1ms and 365d")
  if (ttlFrom === undefined) return () => fixedMs
  const expression = withContext("under 'ttlFrom':", () => env.expression(ttlFrom))
  if (expression.readsBody || (expression.readsResponse && side === 'request'))
    throw new Error("'ttlFrom' must not read a body, or a response that does not exist yet")
  return (x) => {
    const seconds = numberOf(() => expression.value(x))
    return seconds === null ? fixedMs : Math.min(seconds * 1000, MAX_TTL_MS)
  }
}

/** Returns the number, or null if the value is not a number or cannot be read. */
function numberOf(read: () => unknown): number | null {
  try {
    const value = read()
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
    return typeof number === 'number' && Number.isFinite(number) ? number : null
  } catch {
    return null
  }
}

function maxBytesOf({ maxBytes = '64kb' }: CachePolicyConfig): number {
  const bytes = parseSize(maxBytes)
  if (bytes <= MAX_CACHED_BYTES) return bytes
  throw new Error(
    `'maxBytes' must be at most ${MAX_CACHED_BYTES / 1024}kb, the maximum size of a cache entry`,
  )
}
