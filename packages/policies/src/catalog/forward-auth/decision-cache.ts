import {
  type CompileEnv,
  type Exchange,
  type HttpAnswer,
  type HttpCall,
  headerJoined,
  parseDuration,
} from '@sluice/core'
import { CacheControl } from '../../shared/cache-control.js'
import { CallCache, type Found } from '../../shared/call-cache.js'
import { durationWithin } from '../../shared/call-options.js'
import { digestOf, isCallerSpecific } from '../../shared/call-sharing.js'
import { SharedAnswerCache } from '../../shared/shared-answer-cache.js'
import type { Decision } from './decision.js'
import {
  DEFAULT_ENTRIES,
  DEFAULT_NEGATIVE_TTL,
  DEFAULT_STALE,
  DEFAULT_TIMEOUT,
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
  readonly #ttlMs: number
  readonly #negativeTtlMs: number
  readonly #read: (answer: HttpAnswer) => Decision
  /** Null: a worker keeps its decisions for itself. */
  readonly #tier: SharedAnswerCache | null

  /** @throws Error for times that are too long, or an expression that is none. */
  constructor(config: ForwardAuthConfig, env: CompileEnv, read: (answer: HttpAnswer) => Decision) {
    const { cache, withBody } = config
    this.#read = read
    const {
      ttl = DEFAULT_TTL,
      negativeTtl = DEFAULT_NEGATIVE_TTL,
      staleIfError = DEFAULT_STALE,
    } = cache ?? {}
    this.#ttlMs = cache === undefined ? 0 : durationWithin(MAX_TTL_MS, ttl, 'cache.ttl')
    this.#negativeTtlMs =
      cache === undefined ? 0 : durationWithin(MAX_TTL_MS, negativeTtl, 'cache.negativeTtl')
    const staleMs = durationWithin(MAX_STALE_MS, staleIfError, 'cache.staleIfError')
    const { maxEntries = DEFAULT_ENTRIES } = cache ?? {}
    this.#calls = new CallCache({ maxEntries, maxBytes: MAX_BYTES, revalidateMs: 0, staleMs })
    this.#tier = this.#ttlMs === 0 || cache?.scope === 'worker' ? null : tierOf(config, env)
    this.#keyOf = cache?.key === undefined ? plainKey(withBody === true) : namedKey(cache.key, env)
  }

  /** The decision about a request; a promise where the server has to be asked. */
  decide(x: Exchange, call: HttpCall, ask: () => Promise<HttpAnswer>): Decision | Promise<Decision> {
    const key = this.#keyOf(x, call)
    if (key === null) return ask().then(this.#read)
    return this.#calls.get(key, async () => {
      const askOne = async () => {
        const answer = await ask()
        return { answer, found: this.#found(answer) }
      }
      if (this.#tier === null) return (await askOne()).found
      const read = (answer: HttpAnswer) => this.#found(answer)
      return this.#tier.get(key, { maxMs: this.#ttlMs, ask: askOne, read })
    })
  }

  #found(answer: HttpAnswer): Found<Decision> {
    const decision = this.#read(answer)
    const { refusal } = decision
    const isOwn = isPersonal(answer)
    return {
      value: decision,
      ttlMs: isOwn ? 0 : this.#ttlOf(refusal !== null, answer),
      bytes: DECISION_BYTES + (refusal?.body?.length ?? 0) + lengthOf(decision),
      isNegative: refusal !== null,
      isCallerSpecific: isOwn,
    }
  }

  #ttlOf(isRefusal: boolean, { status, headers }: HttpAnswer): number {
    if (isRefusal && status !== 401 && status !== 403) return 0
    const maxMs = isRefusal ? this.#negativeTtlMs : this.#ttlMs
    const seconds = new CacheControl(headerJoined(headers, 'cache-control')).seconds('max-age')
    return seconds === null ? maxMs : Math.min(maxMs, seconds * 1000)
  }
}

/** Only of this gateway: whoever could write into a server that replicas share could let anybody in. */
function tierOf(config: ForwardAuthConfig, env: CompileEnv): SharedAnswerCache {
  const onDown = (error: string): void => env.report('forward_auth_store_down', { error })
  const [space, timeoutMs] = [
    `forward-auth:${digestOf(config)}`,
    parseDuration(config.timeout ?? DEFAULT_TIMEOUT),
  ]
  return new SharedAnswerCache(env.state.store('gateway'), { space, timeoutMs, onDown })
}

/** A redirect may have a state of the login in it. */
function isPersonal(answer: HttpAnswer): boolean {
  return isCallerSpecific(answer) || (answer.status >= 300 && answer.status < 400)
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

function lengthOf({ refusal, upstreamFields, clientFields }: Decision): number {
  let length = 0
  for (const fields of [refusal?.headers ?? [], upstreamFields, clientFields]) {
    for (const text of fields) length += text.length
  }
  return length
}
