import { parseDuration, parseSize } from '@sluice/core'
import { digestOf } from '../../shared/call-sharing.js'
import type { FlightBounds } from './flight.js'
import { OF_ONE_REQUEST, type StoringRules } from './freshness.js'
import type { KeyParts } from './key.js'
import { type ResponseCacheConfig, TARGETED_FIELDS } from './schema.js'

const DEFAULT_STATUSES = [200, 301, 308]
const DEFAULT_METHODS = ['GET', 'HEAD']
/** The pipeline itself gives up policies that take longer than half a minute. */
const MOST_WAIT_MS = 25_000
/** Version of the key format. A new version invalidates entries of older gateways in a shared store. */
const KEY_VERSION = 2
/** Of a digest in base64url: 132 bits. */
const USE_CHARS = 22

/** A configuration with its defaults, ready to be used. */
export interface CacheSettings {
  readonly rules: StoringRules
  readonly key: KeyParts
  readonly methods: ReadonlySet<string>
  readonly honorsRequests: boolean
  /** True if cookies that the key does not name keep no request from the store. */
  readonly takesCookies: boolean
  readonly coalesce: FlightBounds
  readonly maxObject: number
  readonly maxBytes: number
  readonly showsStatus: boolean
  /** Whom responses are shared with. */
  readonly scope: 'worker' | 'gateway' | 'cluster'
}

/** @throws Error for what the schema cannot see. */
export function compileSettings(config: ResponseCacheConfig): CacheSettings {
  const { forced, allow = {}, key = {}, shared = false, coalesce = {} } = config
  const maxObject = parseSize(config.maxObject ?? '1mb')
  const maxBytes = parseSize(config.maxBytes ?? '64mb')
  if (maxObject * 2 > maxBytes) throw new Error(`'maxObject' must be half of 'maxBytes' or less`)
  const waitMs = parseDuration(coalesce.wait ?? '5s')
  if (waitMs > MOST_WAIT_MS)
    throw new Error(`'coalesce.wait' ${coalesce.wait} is too long; write 25s or less`)
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
    maxObject,
    maxBytes,
    showsStatus: config.cacheStatus !== false,
    scope: config.scope ?? 'worker',
  }
}

function compileForced(forced: NonNullable<ResponseCacheConfig['forced']>): StoringRules['forced'] {
  const unkept = forced.statuses?.find((status) => OF_ONE_REQUEST.has(status))
  if (unkept !== undefined)
    throw new Error(
      `'forced.statuses' has ${unkept}, which speaks of one request alone and is never kept; remove it`,
    )
  return {
    ttlMs: parseDuration(forced.ttl),
    statuses: new Set(forced.statuses ?? DEFAULT_STATUSES),
    overridesRefusal: forced.overrideRefusal === true,
  }
}

function compileQuery(query: NonNullable<ResponseCacheConfig['key']>['query']): KeyParts['query'] {
  if (query?.only !== undefined && query.except !== undefined)
    throw new Error(`'key.query' has 'only' and 'except'; write one of them`)
  if (query?.only !== undefined) return { only: query.only }
  return query?.except === undefined ? null : { except: query.except }
}
