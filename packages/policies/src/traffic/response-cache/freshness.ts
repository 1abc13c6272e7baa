import { STATUS_CODES } from 'node:http'
import { headerJoined, headerValue, httpDate } from '@sluice/core'
import { CacheControl, targetedCacheControl } from '../../shared/message/cache-control.js'

/** Statuses that are cacheable by default (RFC 9110, 15.1). */
const HEURISTIC_STATUSES: ReadonlySet<number> = new Set([
  200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501,
])
/**
 * Statuses that apply to a single request: its range, conditions, size, rate or connection. Some of them
 * "MUST NOT be stored by a cache" (RFC 6585), and no other request may get them.
 */
export const REQUEST_SPECIFIC_STATUSES: ReadonlySet<number> = new Set([
  206, 304, 407, 408, 412, 413, 415, 416, 417, 421, 425, 426, 428, 429, 431, 511,
])
/** Heuristic freshness as a fraction of the time since the last change, up to a maximum (RFC 9111, 4.2.2). */
const HEURISTIC_PART = 0.1
const HEURISTIC_MAX_MS = 24 * 60 * 60 * 1000
const MAX_VARY_FIELDS = 16
/** Directives that forbid stale responses, and those that allow storing responses to authorized requests. */
const MUST_REVALIDATE = ['must-revalidate', 'proxy-revalidate', 's-maxage']
const MAY_KEEP_AUTHORIZED = ['public', 's-maxage', 'must-revalidate']
/** Fields that the gateway writes per client after the cache lookup. */
const PER_CLIENT_FIELDS: ReadonlySet<string> = new Set([
  'forwarded',
  'x-forwarded-for',
  'x-real-ip',
  'x-request-id',
])

/** Rules of the operator for storing responses. */
export interface StoringRules {
  /** Fixed lifetime, or null to follow the upstream. */
  readonly forced: ForcedRules | null
  readonly isHeuristic: boolean
  /** True if responses to requests with Authorization may be stored as RFC 9111, 3.5 allows. */
  readonly keepsAuthorized: boolean
  readonly keepsSetCookie: boolean
  /**
   * Fields that override Cache-Control and Expires, in lower case. The first valid one applies (RFC 9213).
   */
  readonly targetedFields: readonly string[]
  /** Default if the response has no such directive. */
  readonly staleWhileRevalidateMs: number
  readonly staleIfErrorMs: number
}

/** Fixed lifetime that overrides the freshness from the upstream. */
export interface ForcedRules {
  readonly ttlMs: number
  readonly statuses: ReadonlySet<number>
  /** True if `private` and `no-store` of the upstream are overridden, too. */
  readonly overridesRefusal: boolean
}

/** An upstream response that may be stored. */
export interface ResponseFacts {
  readonly status: number
  /** Headers sent to the client. */
  readonly headers: readonly string[]
  /** Date field from the upstream, or null. */
  readonly date: string | null
  /** True if the request had credentials. */
  readonly isAuthorized: boolean
  /** Wall clock times in milliseconds of sending the request and of receiving the response head. */
  readonly requestedAt: number
  readonly receivedAt: number
}

/** Freshness of a stored response. Times are in milliseconds. */
export interface Freshness {
  /** Maximum age while fresh. */
  readonly lifetimeMs: number
  /** Age when the response was received (RFC 9111, 4.2.3). */
  readonly initialAgeMs: number
  readonly staleWhileRevalidateMs: number
  readonly staleIfErrorMs: number
  /** True if each use needs validation by the upstream. */
  readonly isAlwaysValidated: boolean
  /** True if it must not be used stale without the upstream. */
  readonly mustRevalidate: boolean
  /** Request fields that selected the response, in lower case. */
  readonly vary: readonly string[]
  /** Fields named in `no-cache`, which are not stored. */
  readonly unstored: readonly string[]
}

/**
 * Returns the freshness of a response in a shared cache (RFC 9111, 3 and 4.2), or null if it may not be
 * stored.
 */
export function freshnessOf(facts: ResponseFacts, rules: StoringRules): Freshness | null {
  const { headers } = facts
  const targeted = targetedControl(headers, rules)
  const control = targeted ?? new CacheControl(headerJoined(headers, 'cache-control'))
  const vary = varyOf(headers)
  if (vary === null || !mayStore(facts, control, rules)) return null
  const { forced, staleWhileRevalidateMs, staleIfErrorMs } = rules
  if (forced !== null)
    return {
      ...{ lifetimeMs: forced.ttlMs, initialAgeMs: 0, staleWhileRevalidateMs, staleIfErrorMs },
      ...{ isAlwaysValidated: false, mustRevalidate: false, vary, unstored: [] },
    }
  const lifetimeMs = lifetimeOf(facts, control, {
    isHeuristic: rules.isHeuristic,
    usesExpires: targeted === null,
  })
  if (lifetimeMs === null) return null
  const isAlwaysValidated = control.hasWhole('no-cache')
  const freshness = {
    lifetimeMs,
    initialAgeMs: initialAge(facts),
    staleWhileRevalidateMs: windowOf(control, 'stale-while-revalidate', staleWhileRevalidateMs),
    staleIfErrorMs: windowOf(control, 'stale-if-error', staleIfErrorMs),
    isAlwaysValidated,
    mustRevalidate: isAlwaysValidated || MUST_REVALIDATE.some((name) => control.has(name)),
    vary,
    unstored: isAlwaysValidated ? [] : control.fieldsOf('no-cache'),
  }
  return isUseful(freshness, headers) ? freshness : null
}

/** Returns true if the operator and the upstream allow storing the response. */
function mayStore(facts: ResponseFacts, control: CacheControl, rules: StoringRules): boolean {
  const { status, headers, isAuthorized } = facts
  const { forced } = rules
  if (status < 200 || REQUEST_SPECIFIC_STATUSES.has(status)) return false
  if (forced !== null && !forced.statuses.has(status)) return false
  // Stores only understood statuses (RFC 9111, 5.2.2.3).
  if (control.has('must-understand') && STATUS_CODES[status] === undefined) return false
  if (!rules.keepsSetCookie && (has(headers, 'set-cookie') || has(headers, 'set-cookie2'))) return false
  if (isAuthorized && !mayKeepAuthorized(control, rules)) return false
  return forced?.overridesRefusal === true || !(control.has('no-store') || control.has('private'))
}

/** Returns the first valid targeted field (RFC 9213, 2.2), or null. */
function targetedControl(headers: readonly string[], rules: StoringRules): CacheControl | null {
  for (const name of rules.targetedFields) {
    const text = headerJoined(headers, name)
    const control = text === null ? null : targetedCacheControl(text)
    if (control !== null) return control
  }
  return null
}

/**
 * True if the response can be used: fresh, stale, or after validation. Other responses would only take up
 * space.
 */
function isUseful(freshness: Freshness, headers: readonly string[]): boolean {
  if (has(headers, 'etag') || has(headers, 'last-modified')) return true
  if (freshness.isAlwaysValidated) return false
  const { lifetimeMs, initialAgeMs, mustRevalidate } = freshness
  if (lifetimeMs > initialAgeMs) return true
  return !mustRevalidate && freshness.staleWhileRevalidateMs + freshness.staleIfErrorMs > 0
}

/**
 * Returns true if the document and the upstream allow it (RFC 9111, 3.5). A forced response is stored per
 * credential.
 */
function mayKeepAuthorized(control: CacheControl, { keepsAuthorized, forced }: StoringRules): boolean {
  if (!keepsAuthorized) return false
  if (forced !== null) return true
  return MAY_KEEP_AUTHORIZED.some((name) => control.has(name))
}

/** Returns the lifetime, or null if nothing allows storing the response. */
function lifetimeOf(
  facts: ResponseFacts,
  control: CacheControl,
  rules: Pick<StoringRules, 'isHeuristic'> & { readonly usesExpires: boolean },
): number | null {
  const seconds = control.seconds('s-maxage') ?? control.seconds('max-age')
  if (seconds !== null) return seconds * 1000
  const date = httpDate(facts.date) ?? facts.receivedAt
  const expires = rules.usesExpires ? headerValue(facts.headers, 'expires') : null
  if (expires !== null) return Math.max(0, (httpDate(expires) ?? 0) - date)
  const isHeuristic = HEURISTIC_STATUSES.has(facts.status) || control.has('public')
  const modified = httpDate(headerValue(facts.headers, 'last-modified'))
  if (rules.isHeuristic && isHeuristic && modified !== null)
    return Math.min(HEURISTIC_MAX_MS, Math.max(0, (date - modified) * HEURISTIC_PART))
  // Stored for validation only.
  return isHeuristic && (has(facts.headers, 'etag') || modified !== null) ? 0 : null
}

/**
 * Computes the initial age (RFC 9111, 4.2.3). Uses the first of several Age values and ignores an invalid
 * one.
 */
function initialAge({ headers, date, requestedAt, receivedAt }: ResponseFacts): number {
  const sent = httpDate(date)
  const apparent = sent === null ? 0 : Math.max(0, receivedAt - sent)
  const age = (headerValue(headers, 'age') ?? '').split(',', 1).join('').trim()
  const ageMs = /^\d{1,10}$/.test(age) ? Number(age) * 1000 : 0
  return Math.max(apparent, ageMs + receivedAt - requestedAt)
}

function windowOf(control: CacheControl, name: string, otherwise: number): number {
  const seconds = control.seconds(name)
  return seconds === null ? otherwise : seconds * 1000
}

/** Returns the fields of Vary, or null if no request can match (RFC 9111, 4.1). */
function varyOf(headers: readonly string[]): readonly string[] | null {
  const field = headerJoined(headers, 'vary') ?? ''
  const names = field.split(',').map((name) => name.trim().toLowerCase())
  const vary = new Set(names.filter((name) => name !== ''))
  if (vary.has('*') || [...vary].some((name) => PER_CLIENT_FIELDS.has(name))) return null
  // Clients must not get a coding that they cannot read, even if the upstream forgot to name it in Vary.
  if (has(headers, 'content-encoding')) vary.add('accept-encoding')
  return vary.size > MAX_VARY_FIELDS ? null : [...vary]
}

function has(headers: readonly string[], name: string): boolean {
  return headerValue(headers, name) !== null
}
