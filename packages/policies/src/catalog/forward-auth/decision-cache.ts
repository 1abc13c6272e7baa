import { createHash } from 'node:crypto'
import {
  type CompileEnv,
  type Exchange,
  type HttpAnswer,
  type HttpCall,
  headerCount,
  headerJoined,
  parseDuration,
} from '@sluice/core'
import { AnswerTier } from '../../shared/answer-tier.js'
import { CallCache, type Found } from '../../shared/call-cache.js'
import { CacheControl } from '../response-cache/cache-control.js'
import type { Decision } from './decision.js'
import {
  DEFAULT_ENTRIES,
  DEFAULT_NEGATIVE_TTL,
  DEFAULT_STALE,
  DEFAULT_TTL,
  type ForwardAuthConfig,
} from './schema.js'

const MAX_BYTES = 16 * 1024 * 1024
const MAX_TTL_MS = 3_600_000
const MAX_STALE_MS = 86_400_000
/** A decision without its fields and its body. */
const DECISION_BYTES = 400

/** The decisions of a server that are known, and the calls for those that are not. */
export class DecisionCache {
  readonly #calls: CallCache<Decision>
  readonly #keyOf: KeyOf
  /** Requests with the same key need not have the same credentials. */
  readonly #ttlMs: number
  readonly #negativeTtlMs: number
  readonly #read: (answer: HttpAnswer) => Decision
  /** Null: a worker keeps its decisions for itself. */
  readonly #tier: AnswerTier | null

  /** @throws Error for times that are too long, or an expression that is none. */
  constructor(config: ForwardAuthConfig, env: CompileEnv, read: (answer: HttpAnswer) => Decision) {
    const { cache, withBody } = config
    this.#read = read
    const {
      ttl = DEFAULT_TTL,
      negativeTtl = DEFAULT_NEGATIVE_TTL,
      staleIfError = DEFAULT_STALE,
    } = cache ?? {}
    this.#ttlMs = cache === undefined ? 0 : bounded(ttl, MAX_TTL_MS, 'cache.ttl')
    this.#negativeTtlMs = cache === undefined ? 0 : bounded(negativeTtl, MAX_TTL_MS, 'cache.negativeTtl')
    const staleMs = bounded(staleIfError, MAX_STALE_MS, 'cache.staleIfError')
    const { maxEntries = DEFAULT_ENTRIES } = cache ?? {}
    this.#calls = new CallCache({ maxEntries, maxBytes: MAX_BYTES, revalidateMs: 0, staleMs })
    this.#tier = cache?.scope === 'gateway' ? tierOf(config, env) : null
    this.#keyOf = cache?.key === undefined ? plainKey(withBody === true) : namedKey(cache.key, env)
  }

  /** The decision about a request; a promise where the server has to be asked. */
  decide(x: Exchange, call: HttpCall, ask: () => Promise<HttpAnswer>): Decision | Promise<Decision> {
    const key = this.#keyOf(x, call)
    if (key === null) return ask().then(this.#read)
    return this.#calls.get(key, async () => {
      const shared = (await this.#tier?.find(key, this.#ttlMs)) ?? null
      if (shared !== null) return { ...this.#found(shared.answer), ttlMs: shared.leftMs }
      const answer = await ask()
      const found = this.#found(answer)
      if (found.ttlMs > 0) this.#tier?.keep(key, answer, found.ttlMs)
      return found
    })
  }

  #found(answer: HttpAnswer): Found<Decision> {
    const decision = this.#read(answer)
    const { refusal } = decision
    const isPersonal = isForOne(answer)
    return {
      value: decision,
      ttlMs: isPersonal ? 0 : this.#ttlOf(refusal !== null, answer),
      bytes: DECISION_BYTES + (refusal?.body?.length ?? 0) + lengthOf(decision),
      isNegative: refusal !== null,
      isForOne: isPersonal,
    }
  }

  #ttlOf(isRefusal: boolean, { status, headers }: HttpAnswer): number {
    if (isRefusal && status !== 401 && status !== 403) return 0
    const mostMs = isRefusal ? this.#negativeTtlMs : this.#ttlMs
    const seconds = new CacheControl(headerJoined(headers, 'cache-control')).seconds('max-age')
    return seconds === null ? mostMs : Math.min(mostMs, seconds * 1000)
  }
}

/** Only of this gateway: whoever could write into a server that replicas share could let anybody in. */
function tierOf(config: ForwardAuthConfig, env: CompileEnv): AnswerTier {
  const onDown = (error: string): void => env.report('forward_auth_store_down', { error })
  return new AnswerTier(env.state.store('gateway'), `forward-auth:${digestOf(config)}`, onDown)
}

/** Cookies, redirects with a state, and what the server itself calls so. */
function isForOne({ status, headers }: HttpAnswer): boolean {
  const control = new CacheControl(headerJoined(headers, 'cache-control'))
  const isPrivate = control.has('no-store') || control.has('no-cache') || control.has('private')
  return isPrivate || headerCount(headers, 'set-cookie') > 0 || (status >= 300 && status < 400)
}

/** What stands for a decision; null: it is not kept, and nobody waits for it. */
type KeyOf = (x: Exchange, call: HttpCall) => string | null

/** All that the server is sent. Bodies are not compared. */
function plainKey(withBody: boolean): KeyOf {
  return withBody ? () => null : (_, { headers }) => digestOf(headers)
}

/** What an expression does not find is an input like any other. */
function namedKey(texts: readonly string[], env: CompileEnv): KeyOf {
  const parts = texts.map((text) => env.expression(text))
  if (parts.some(({ readsBody, readsResponse }) => readsBody || readsResponse))
    throw new Error(
      "'cache.key' reads a body or the response; a decision can depend on the request head alone",
    )
  return (x) => {
    try {
      return digestOf(parts.map((part) => part.value(x)))
    } catch {
      return null
    }
  }
}

/** Written as JSON, so that no value can look like two. */
function digestOf(parts: unknown): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

function lengthOf({ refusal, upstreamFields, clientFields }: Decision): number {
  let length = 0
  for (const fields of [refusal?.headers ?? [], upstreamFields, clientFields]) {
    for (const text of fields) length += text.length
  }
  return length
}

function bounded(written: string, mostMs: number, key: string): number {
  const ms = parseDuration(written)
  if (ms > mostMs) throw new Error(`'${key}' is longer than ${mostMs / 1000} s; shorten it`)
  return ms
}
