import { parseDuration, parseSize } from '@sluice/core'
import { digestOf } from '../../shared/call/call-sharing.js'
import { REQUEST_SPECIFIC_STATUSES, type StoringRules } from './freshness.js'
import type { CoalesceLimits } from './in-flight-fetch.js'
import type { KeyParts } from './key.js'
import { type ResponseCacheConfig, TARGETED_FIELDS } from './schema.js'

const DEFAULT_STATUSES = [200, 301, 308]
const DEFAULT_METHODS = ['GET', 'HEAD']
/** Maximum wait. The pipeline aborts policies after half a minute. */
const MAX_WAIT_MS = 25_000
/** Version of the key format. A new version invalidates entries of older gateways in a shared store. */
const KEY_VERSION = 2
/** Length of the digest in base64url characters: 132 bits. */
const USE_CHARS = 22

/** Compiled configuration. */
export interface CacheSettings {
  readonly rules: StoringRules
  readonly key: KeyParts
  readonly methods: ReadonlySet<string>
  readonly honorsRequests: boolean
  /** True if requests with cookies outside the key may use the cache. */
  readonly takesCookies: boolean
  readonly coalesce: CoalesceLimits
  readonly maxObjectBytes: number
  readonly maxBytes: number
  readonly showsStatus: boolean
  readonly scope: 'worker' | 'gateway' | 'cluster'
}

/** @throws Error for problems that the schema cannot find. */
export function compileSettings(config: ResponseCacheConfig): CacheSettings {
  const { forced, allow = {}, key = {}, shared = false, coalesce = {} } = config
  const maxObjectBytes = parseSize(config.maxObjectBytes ?? '1mb')
  const maxBytes = parseSize(config.maxBytes ?? '64mb')
  if (maxObjectBytes * 2 > maxBytes) throw new Error(`'maxObjectBytes' must be half of 'maxBytes' or less`)
  const waitMs = parseDuration(coalesce.wait ?? '5s')
  if (waitMs > MAX_WAIT_MS) throw new Error(`'coalesce.wait' ${coalesce.wait} is too long: use 25s or less`)
  const isForced = forced !== undefined
  return {
    rules: {
      forced: isForced ? compileForced(forced) : null,
      isHeuristic: config.heuristic === true,
      keepsAuthorized: allow.authorization === true,
      keepsSetCookie: allow.setCookie === true,
      targetedFields: (config.targetedFields ?? TARGETED_FIELDS).map((name) => name.toLowerCase()),
      staleWhileRevalidateMs: parseDuration(config.staleWhileRevalidate ?? '0s'),
      staleIfErrorMs: parseDuration(config.staleIfError ?? '0s'),
    },
    key: {
      use: digestOf([KEY_VERSION, config]).slice(0, USE_CHARS),
      hasHost: key.host !== false,
      query: compileQuery(key.query),
      headers: (key.headers ?? []).map((name) => name.toLowerCase()),
      cookies: key.cookies ?? [],
      hasConsumer: !shared,
      hasCredentials: isForced && !shared,
    },
    methods: new Set(forced?.methods ?? DEFAULT_METHODS),
    honorsRequests: !isForced && config.requestDirectives !== 'ignore',
    takesCookies: allow.cookies === true,
    coalesce: { most: coalesce.max ?? 1000, waitMs },
    maxObjectBytes,
    maxBytes,
    showsStatus: config.cacheStatus !== false,
    scope: config.scope ?? 'worker',
  }
}

function compileForced(forced: NonNullable<ResponseCacheConfig['forced']>): StoringRules['forced'] {
  const unstored = forced.statuses?.find((status) => REQUEST_SPECIFIC_STATUSES.has(status))
  if (unstored !== undefined)
    throw new Error(
      `'forced.statuses' has ${unstored}, which applies to a single request and is never stored: remove it`,
    )
  return {
    ttlMs: parseDuration(forced.ttl),
    statuses: new Set(forced.statuses ?? DEFAULT_STATUSES),
    overridesRefusal: forced.overrideRefusal === true,
  }
}

function compileQuery(query: NonNullable<ResponseCacheConfig['key']>['query']): KeyParts['query'] {
  if (query?.only !== undefined && query.except !== undefined)
    throw new Error(`'key.query' has both 'only' and 'except': use one of them`)
  if (query?.only !== undefined) return { only: query.only }
  return query?.except === undefined ? null : { except: query.except }
}
