import { createHash, randomBytes } from 'node:crypto'
import { ANSWERS_PREFIX, type CompileEnv, type PurgeScope, type StateStore } from '@sluice/core'
import { matchesScope, type ResponseStore } from './store.js'
import type { StoredResponse } from './stored-response.js'
import { decodeVariants, encodeVariants, type Stamp } from './stored-text.js'

/** Maximum lifetime of a response in the second tier. */
const MAX_TTL_MS = 24 * 60 * 60 * 1000
/** Longer than the lifetime of responses, so that a token outlives every response stored with it. */
const TOKEN_TTL_MS = MAX_TTL_MS + 60 * 60 * 1000
const COUNTER_TTL_MS = 400 * MAX_TTL_MS
/** Interval in milliseconds at which a worker checks for purges by others. */
export const PURGE_LOOK_MS = 1000
/** Time without a check after which a worker stops using the second tier, in milliseconds. */
const BLIND_MS = 5000
/** Maximum number of remembered purges. Responses older than those are not used. */
const MAX_PURGES = 100

/** Token prefixes: drawn for the first response of a URI, or after a change. */
const FIRST = 'f:'
const CHANGED = 'c:'

const COUNTER = 'response-cache:purges'
/**
 * Minimum valid count. A lower value means that the counter is new or was lost. It starts at the current time
 * in milliseconds, which no earlier counter can have reached.
 */
const MIN_COUNT = 1e12

/**
 * Responses shared by workers or replicas, in the store of the gateway or of the document's `state`. If the store does
 * not answer in time, the upstream is called.
 *
 *     key ─► variants, with the stamp of their request
 *     uri ─► token, replaced by every change at the URI. Variants with another token or none are not used
 *     purges ─► counter and scopes. Every worker reads them once a second and purges its own responses
 */
export class SecondTier {
  readonly #shared: StateStore
  readonly #own: ResponseStore
  readonly #report: CompileEnv['report']
  /** Recent purges by number. */
  readonly #scopes = new Map<number, PurgeScope>()
  /** Token of each variant, if known to this worker. */
  readonly #tokens = new WeakMap<StoredResponse, string>()
  #purges = -1
  #lookedMono = Number.NEGATIVE_INFINITY
  #askedMono = Number.NEGATIVE_INFINITY
  /** Number of purges being published. */
  #publishing = 0

  /** @param report reports purges that could not be shared with other replicas. */
  constructor(shared: StateStore, own: ResponseStore, report: CompileEnv['report']) {
    this.#shared = shared
    this.#own = own
    this.#report = report
  }

  /** Publishes a purge in the background. Until that is done, the second tier is not read. */
  publish(scope: PurgeScope): void {
    this.#publishing++
    this.#publish(scope)
      .catch((error: Error) => this.#report('cache_purge_not_shared', { problem: error.message }))
      .finally(() => this.#publishing--)
  }

  /**
   * Copies the shared responses for a key to the cache of this worker.
   * @returns the stamp for an upstream request sent now, or null if the store is unavailable.
   */
  async fetch(key: string, uri: string): Promise<Stamp | null> {
    if (this.#publishing > 0 || performance.now() - this.#lookedMono > BLIND_MS) return null
    const { epoch } = this.#own
    const now = Date.now()
    try {
      // The token is read last, because the store evicts entries by their last use.
      const [found, token] = await Promise.all([
        this.#shared.get(valueKey(key)),
        this.#shared.get(tokenKey(uri)),
      ])
      const stamp = { token: token === null ? '' : Buffer.from(token).toString(), purges: this.#purges }
      const decoded = found === null ? null : decodeVariants(found, { key, uri })
      const isCurrentToken = token !== null && decoded?.stamp.token === stamp.token
      if (isCurrentToken && this.#own.isCurrent(uri, epoch, now)) this.#take(decoded.variants, decoded.stamp)
      return stamp
    } catch {
      return null
    }
  }

  #take(variants: readonly StoredResponse[], stamp: Stamp): void {
    for (const stored of [...variants].reverse()) {
      if (this.#isPurged(stored, stamp)) continue
      this.#tokens.set(stored, stamp.token)
      this.#own.put(stored)
    }
  }

  /** Shares the variants stored under a key for as long as the newest one may be useful. */
  put(newest: StoredResponse, stamp: Stamp): void {
    const { lifetimeMs, initialAgeMs, staleIfErrorMs, staleWhileRevalidateMs } = newest.freshness
    const ttlMs = lifetimeMs - initialAgeMs + Math.max(staleIfErrorMs, staleWhileRevalidateMs)
    if (ttlMs >= 1) this.#put(newest, stamp, Math.min(Math.ceil(ttlMs), MAX_TTL_MS)).catch(() => {})
  }

  async #put(newest: StoredResponse, { token: known, purges }: Stamp, ttlMs: number): Promise<void> {
    const token = known === '' ? await this.#firstToken(newest.uri) : known
    if (token === null) return
    this.#tokens.set(newest, token)
    // Variants from before a change must not be shared as newer ones.
    const variants = this.#own.variantsOf(newest.key).filter((one) => this.#tokens.get(one) === token)
    const encoded = encodeVariants(variants, { token, purges })
    if (encoded !== null) await this.#shared.set(valueKey(newest.key), encoded, ttlMs)
  }

  /**
   * Returns the token of a URI that had none when the request was sent, or null if something changed since.
   */
  async #firstToken(uri: string): Promise<string | null> {
    const drawn = newToken(FIRST)
    if (await this.#shared.set(tokenKey(uri), Buffer.from(drawn), TOKEN_TTL_MS, 'absent')) return drawn
    const token = Buffer.from((await this.#shared.get(tokenKey(uri))) ?? '').toString()
    return token.startsWith(FIRST) ? token : null
  }

  /** Invalidates all shared responses for a URI. */
  change(uri: string): void {
    this.#shared.set(tokenKey(uri), Buffer.from(newToken(CHANGED)), TOKEN_TTL_MS).catch(() => {})
  }

  /** Applies the purges of others. Calls in quick succession are merged. @throws StateUnavailable */
  async look(): Promise<void> {
    if (performance.now() - this.#askedMono < PURGE_LOOK_MS / 2) return
    this.#askedMono = performance.now()
    const count = await this.#count(0)
    const isFirst = this.#purges < 0
    if (!isFirst && count !== this.#purges) await this.#catchUp(count)
    this.#purges = count
    this.#lookedMono = performance.now()
  }

  async #count(more: number): Promise<number> {
    const count = await this.#shared.add(COUNTER, more, COUNTER_TTL_MS)
    return count < MIN_COUNT ? this.#shared.add(COUNTER, Date.now(), COUNTER_TTL_MS) : count
  }

  async #catchUp(count: number): Promise<void> {
    const missed = count - this.#purges
    // Unknown purges are treated as a purge of everything.
    if (missed < 0 || missed > MAX_PURGES) this.#apply(count, { by: 'all' })
    else for (let n = this.#purges + 1; n <= count; n++) this.#apply(n, await this.#scopeOf(n))
  }

  async #scopeOf(n: number): Promise<PurgeScope> {
    const text = await this.#shared.get(`${COUNTER}:${n}`)
    return (text === null ? null : readScope(text)) ?? { by: 'all' }
  }

  #apply(n: number, scope: PurgeScope): void {
    this.#scopes.set(n, scope)
    for (const old of this.#scopes.keys()) {
      if (this.#scopes.size <= MAX_PURGES) break
      this.#scopes.delete(old)
    }
    this.#own.purgeOwn(scope)
  }

  /** Returns true if the response was purged, or a purge since its stamp is unknown. */
  #isPurged(stored: StoredResponse, { purges }: Stamp): boolean {
    if (purges > this.#purges || this.#purges - purges > MAX_PURGES) return true
    for (let n = purges + 1; n <= this.#purges; n++) {
      const scope = this.#scopes.get(n)
      if (scope === undefined || matchesScope(stored, scope)) return true
    }
    return false
  }

  async #publish(scope: PurgeScope): Promise<void> {
    const n = await this.#count(1)
    await this.#shared.set(`${COUNTER}:${n}`, Buffer.from(JSON.stringify(scope)), TOKEN_TTL_MS)
    this.#askedMono = Number.NEGATIVE_INFINITY
    await this.look()
  }
}

function readScope(text: Uint8Array): PurgeScope | null {
  try {
    const { by, value } = JSON.parse(Buffer.from(text).toString()) as {
      readonly by: unknown
      readonly value?: unknown
    }
    if (by === 'key' || by === 'tag' || by === 'prefix')
      return typeof value === 'string' ? { by, value } : null
  } catch {
    // An unreadable scope purges everything.
  }
  return null
}

function newToken(kind: string): string {
  return kind + randomBytes(12).toString('base64')
}

function valueKey(key: string): string {
  return `${ANSWERS_PREFIX}response-cache:r:${digest(key)}`
}

function tokenKey(uri: string): string {
  return `${ANSWERS_PREFIX}response-cache:u:${digest(uri)}`
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
