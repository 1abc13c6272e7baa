import { createHash, randomBytes } from 'node:crypto'
import { ANSWERS_PREFIX, type CompileEnv, type PurgeScope, type StateStore } from '@sluice/core'
import { isMeant, type ResponseStore } from './store.js'
import type { StoredResponse } from './stored-response.js'
import { decodeVariants, encodeVariants, type Stamp } from './stored-text.js'

/** Longest time that a response stays in the second tier. */
const MOST_TTL_MS = 24 * 60 * 60 * 1000
/** Longer than that, so that nothing can be taken for what came after it. */
const TOKEN_TTL_MS = MOST_TTL_MS + 60 * 60 * 1000
const COUNTER_TTL_MS = 400 * MOST_TTL_MS
/** How often a worker looks whether another one has purged. */
export const PURGE_LOOK_MS = 1000
/** Who has not looked for so long knows nothing of purges, and does not use the second tier. */
const BLIND_MS = 5000
/** Purges that a worker remembers; what is older than them is not used. */
const MOST_PURGES = 100

/** What tokens begin with: drawn for the first response of a URI, or by a change there. */
const FIRST = 'f:'
const CHANGED = 'c:'

const COUNTER = 'response-cache:purges'
/** A counter below this is a new one, or the store has lost the one before. It begins at the time, ms, which no other has reached. */
const LEAST_COUNT = 1e12

/**
 * The responses that workers or replicas share, by the store of the gateway or of the document's `state`. What it does not say
 * in time it does not say at all: the upstream is asked.
 *
 *     key ─► variants, with the stamp of when they were asked for
 *     uri ─► token, drawn anew by every change at the URI: variants with another one, or without one, are not used
 *     purges ─► their number, and what each meant: read by every worker once a second, for its own responses as well
 */
export class SecondTier {
  readonly #shared: StateStore
  readonly #own: ResponseStore
  readonly #report: CompileEnv['report']
  /** The last purges, by their numbers. */
  readonly #scopes = new Map<number, PurgeScope>()
  /** The token that holds for a variant, as far as it is known here. */
  readonly #tokens = new WeakMap<StoredResponse, string>()
  #purges = -1
  #lookedMono = Number.NEGATIVE_INFINITY
  #askedMono = Number.NEGATIVE_INFINITY
  /** Purges that are on their way. */
  #publishing = 0

  /** @param report tells operators of purges that the other replicas do not hear of. */
  constructor(shared: StateStore, own: ResponseStore, report: CompileEnv['report']) {
    this.#shared = shared
    this.#own = own
    this.#report = report
  }

  /** Tells the others of a purge; nobody waits for it, but until then nothing is taken from here. */
  publish(scope: PurgeScope): void {
    this.#publishing++
    this.#publish(scope)
      .catch((error: Error) => this.#report('cache_purge_not_shared', { problem: error.message }))
      .finally(() => this.#publishing--)
  }

  /**
   * Puts what the replicas have of a key into the store of this worker.
   * @returns the stamp for what is asked for now; null: nothing can be said.
   */
  async fetch(key: string, uri: string): Promise<Stamp | null> {
    if (this.#publishing > 0 || performance.now() - this.#lookedMono > BLIND_MS) return null
    const { epoch } = this.#own
    const now = Date.now()
    try {
      // The token behind it: what is used later is forgotten later, where room is short.
      const [found, token] = await Promise.all([
        this.#shared.get(valueKey(key)),
        this.#shared.get(tokenKey(uri)),
      ])
      const stamp = { token: token === null ? '' : Buffer.from(token).toString(), purges: this.#purges }
      const decoded = found === null ? null : decodeVariants(found, { key, uri })
      const isMeantNow = token !== null && decoded?.stamp.token === stamp.token
      if (isMeantNow && this.#own.isCurrent(uri, epoch, now)) this.#take(decoded.variants, decoded.stamp)
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

  /** Gives the replicas what is stored under a key, for as long as its newest variant may be of use. */
  put(newest: StoredResponse, stamp: Stamp): void {
    const { lifetimeMs, initialAgeMs, staleIfErrorMs, staleWhileRevalidateMs } = newest.freshness
    const ttlMs = lifetimeMs - initialAgeMs + Math.max(staleIfErrorMs, staleWhileRevalidateMs)
    if (ttlMs >= 1) this.#put(newest, stamp, Math.min(Math.ceil(ttlMs), MOST_TTL_MS)).catch(() => {})
  }

  async #put(newest: StoredResponse, { token: known, purges }: Stamp, ttlMs: number): Promise<void> {
    const token = known === '' ? await this.#firstToken(newest.uri) : known
    if (token === null) return
    this.#tokens.set(newest, token)
    // What this worker has from before a change is not to be passed on as what came after it.
    const variants = this.#own.variantsOf(newest.key).filter((one) => this.#tokens.get(one) === token)
    const encoded = encodeVariants(variants, { token, purges })
    if (encoded !== null) await this.#shared.set(valueKey(newest.key), encoded, ttlMs)
  }

  /** Of a URI that had none when it was asked for; null: something has changed there since. */
  async #firstToken(uri: string): Promise<string | null> {
    const drawn = drawnToken(FIRST)
    if (await this.#shared.set(tokenKey(uri), Buffer.from(drawn), TOKEN_TTL_MS, 'absent')) return drawn
    const token = Buffer.from((await this.#shared.get(tokenKey(uri))) ?? '').toString()
    return token.startsWith(FIRST) ? token : null
  }

  /** Something has changed at a URI. */
  change(uri: string): void {
    this.#shared.set(tokenKey(uri), Buffer.from(drawnToken(CHANGED)), TOKEN_TTL_MS).catch(() => {})
  }

  /** Learns of the purges of others, once for all who ask at about the same time. @throws StateUnavailable */
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
    return count < LEAST_COUNT ? this.#shared.add(COUNTER, Date.now(), COUNTER_TTL_MS) : count
  }

  async #catchUp(count: number): Promise<void> {
    const missed = count - this.#purges
    // What cannot be known could mean everything.
    if (missed < 0 || missed > MOST_PURGES) this.#apply(count, { by: 'all' })
    else for (let n = this.#purges + 1; n <= count; n++) this.#apply(n, await this.#scopeOf(n))
  }

  async #scopeOf(n: number): Promise<PurgeScope> {
    const text = await this.#shared.get(`${COUNTER}:${n}`)
    return (text === null ? null : readScope(text)) ?? { by: 'all' }
  }

  #apply(n: number, scope: PurgeScope): void {
    this.#scopes.set(n, scope)
    for (const old of this.#scopes.keys()) {
      if (this.#scopes.size <= MOST_PURGES) break
      this.#scopes.delete(old)
    }
    this.#own.purgeOwn(scope)
  }

  /** All purges that came behind its stamp have to be known. */
  #isPurged(stored: StoredResponse, { purges }: Stamp): boolean {
    if (purges > this.#purges || this.#purges - purges > MOST_PURGES) return true
    for (let n = purges + 1; n <= this.#purges; n++) {
      const scope = this.#scopes.get(n)
      if (scope === undefined || isMeant(stored, scope)) return true
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
    // Whatever it was meant to say, it is taken for all.
  }
  return null
}

function drawnToken(kind: string): string {
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
