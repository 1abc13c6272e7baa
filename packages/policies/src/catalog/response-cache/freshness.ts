import { STATUS_CODES } from 'node:http'
import { headerJoined, headerValue, httpDate } from '@sluice/core'
import { CacheControl, targetedCacheControl } from '../../shared/cache-control.js'

/** Statuses that may be kept without a word about it (RFC 9110, 15.1). */
const HEURISTIC_STATUSES: ReadonlySet<number> = new Set([
  200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501,
])
/**
 * Statuses that speak of one request: of its range, its conditions, its size, its pace or its connection. Some of them
 * "MUST NOT be stored by a cache" (RFC 6585), and no other request should get them.
 */
export const OF_ONE_REQUEST: ReadonlySet<number> = new Set([
  206, 304, 407, 408, 412, 413, 415, 416, 417, 421, 425, 426, 428, 429, 431, 511,
])
/** The part of its age that a document is expected to go on unchanged, and no longer than that (RFC 9111, 4.2.2). */
const HEURISTIC_PART = 0.1
const HEURISTIC_MAX_MS = 24 * 60 * 60 * 1000
const MOST_VARY_FIELDS = 16
/** Fields whose values the gateway writes for each client, after the cache has looked. */
const WRITTEN_LATER: ReadonlySet<string> = new Set([
  'forwarded',
  'x-forwarded-for',
  'x-real-ip',
  'x-request-id',
])

/** What an operator decides about the responses that are kept. */
export interface StoringRules {
  /** Null: what the upstream says decides. */
  readonly forced: ForcedRules | null
  readonly isHeuristic: boolean
  /** Responses to requests with Authorization may be kept where RFC 9111, 3.5 lets a shared cache do so. */
  readonly keepsAuthorized: boolean
  readonly keepsSetCookie: boolean
  /** Fields in the place of Cache-Control and Expires, in lower case, the first that is valid counts (RFC 9213). */
  readonly targetedFields: readonly string[]
  /** Where the response does not say. */
  readonly staleWhileRevalidateMs: number
  readonly staleIfErrorMs: number
}

/** For how long responses are kept whatever the upstream says of freshness. */
export interface ForcedRules {
  readonly ttlMs: number
  readonly statuses: ReadonlySet<number>
  /** Also those that the upstream calls `private` or `no-store`. */
  readonly overridesRefusal: boolean
}

/** The response to a GET as it is about to be kept. */
export interface ResponseFacts {
  readonly status: number
  /** As they go on to the client. */
  readonly headers: readonly string[]
  /** Of Date, as the upstream sent it; null: there was none. */
  readonly date: string | null
  /** The request had Authorization. */
  readonly isAuthorized: boolean
  /** Wall clock, ms: when it was asked for, and when its head was there. */
  readonly requestedAt: number
  readonly receivedAt: number
}

/** How long a response may be used. Times in ms. */
export interface Freshness {
  /** It is fresh until it is older than that. */
  readonly lifetimeMs: number
  /** Its age when it was received (RFC 9111, 4.2.3). */
  readonly initialAgeMs: number
  readonly staleWhileRevalidateMs: number
  readonly staleIfErrorMs: number
  /** It is not used unless the upstream has said that it still holds. */
  readonly isAlwaysValidated: boolean
  /** Once stale it is not used without the upstream. */
  readonly mustRevalidate: boolean
  /** The request fields that it was chosen by, in lower case. */
  readonly vary: readonly string[]
  /** Fields that are not kept: they are named in `no-cache`. */
  readonly unkept: readonly string[]
}

/** Whether and for how long a response may be kept in a shared cache (RFC 9111, 3 and 4.2); null: it may not. */
export function freshnessOf(facts: ResponseFacts, rules: StoringRules): Freshness | null {
  const { status, headers } = facts
  const targeted = targetedControl(headers, rules)
  const control = targeted ?? new CacheControl(headerJoined(headers, 'cache-control'))
  const vary = varyOf(headers)
  if (status < 200 || OF_ONE_REQUEST.has(status) || vary === null) return null
  // RFC 9111, 5.2.2.3.
  if (control.has('must-understand') && STATUS_CODES[status] === undefined) return null
  if (!rules.keepsSetCookie && (has(headers, 'set-cookie') || has(headers, 'set-cookie2'))) return null
  if (facts.isAuthorized && !mayKeepAuthorized(control, rules)) return null
  const refuses = control.has('no-store') || control.has('private')
  if (refuses && rules.forced?.overridesRefusal !== true) return null
  if (rules.forced !== null) return forcedFreshness(facts, rules, { forced: rules.forced, vary })
  const lifetimeMs = lifetimeOf(facts, control, { ...rules, usesExpires: targeted === null })
  if (lifetimeMs === null) return null
  const initialAgeMs = initialAge(facts)
  const isAlwaysValidated = control.hasWhole('no-cache')
  const mustRevalidate =
    isAlwaysValidated ||
    control.has('must-revalidate') ||
    control.has('proxy-revalidate') ||
    control.has('s-maxage')
  const freshness = {
    lifetimeMs,
    initialAgeMs,
    staleWhileRevalidateMs: windowOf(control, 'stale-while-revalidate', rules.staleWhileRevalidateMs),
    staleIfErrorMs: windowOf(control, 'stale-if-error', rules.staleIfErrorMs),
    isAlwaysValidated,
    mustRevalidate,
    vary,
    unkept: isAlwaysValidated ? [] : control.fieldsOf('no-cache'),
  }
  return isUseful(freshness, headers) ? freshness : null
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

/** What can be used neither now, nor stale, nor by asking whether it still holds, only takes room. */
function isUseful(freshness: Freshness, headers: readonly string[]): boolean {
  if (has(headers, 'etag') || has(headers, 'last-modified')) return true
  if (freshness.isAlwaysValidated) return false
  const { lifetimeMs, initialAgeMs, mustRevalidate } = freshness
  if (lifetimeMs > initialAgeMs) return true
  return !mustRevalidate && freshness.staleWhileRevalidateMs + freshness.staleIfErrorMs > 0
}

/** The document's permission and the upstream's (RFC 9111, 3.5); a forced response is kept for its caller alone. */
function mayKeepAuthorized(control: CacheControl, { keepsAuthorized, forced }: StoringRules): boolean {
  if (!keepsAuthorized) return false
  if (forced !== null) return true
  return control.has('public') || control.has('s-maxage') || control.has('must-revalidate')
}

function forcedFreshness(
  facts: ResponseFacts,
  rules: StoringRules,
  { forced, vary }: { readonly forced: ForcedRules; readonly vary: readonly string[] },
): Freshness | null {
  if (!forced.statuses.has(facts.status)) return null
  return {
    lifetimeMs: forced.ttlMs,
    initialAgeMs: 0,
    staleWhileRevalidateMs: rules.staleWhileRevalidateMs,
    staleIfErrorMs: rules.staleIfErrorMs,
    isAlwaysValidated: false,
    mustRevalidate: false,
    vary,
    unkept: [],
  }
}

/** Null: nothing says that it may be kept. */
function lifetimeOf(
  facts: ResponseFacts,
  control: CacheControl,
  rules: StoringRules & { readonly usesExpires: boolean },
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
  // It can be kept to be validated.
  return isHeuristic && (has(facts.headers, 'etag') || modified !== null) ? 0 : null
}

/** RFC 9111, 4.2.3. Of several values of Age the first counts; one that is not valid does not. */
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

/** Null: no request can be known to ask for the same (RFC 9111, 4.1). */
function varyOf(headers: readonly string[]): readonly string[] | null {
  const field = headerJoined(headers, 'vary') ?? ''
  const names = field.split(',').map((name) => name.trim().toLowerCase())
  const vary = new Set(names.filter((name) => name !== ''))
  if (vary.has('*') || [...vary].some((name) => WRITTEN_LATER.has(name))) return null
  // Who cannot read a coding does not get it, though the upstream has forgotten to say that it chose one.
  if (has(headers, 'content-encoding')) vary.add('accept-encoding')
  return vary.size > MOST_VARY_FIELDS ? null : [...vary]
}

function has(headers: readonly string[], name: string): boolean {
  return headerValue(headers, name) !== null
}
