import { type CompileEnv, type Exchange, type HttpAnswer, type HttpCall, parseDuration } from '@sluice/core'
import { AnswerCache, AnswerTier } from '../../shared/call/answer-cache.js'
import { CallCache, type Found } from '../../shared/call/call-cache.js'
import { durationWithin } from '../../shared/call/call-options.js'
import { answerTtlMs, digestOf, expressionKey, isCallerSpecific } from '../../shared/call/call-sharing.js'
import type { Decision } from './decision.js'
import type { ForwardAuthConfig } from './schema.js'

const MAX_BYTES = 16 * 1024 * 1024
const MAX_TTL_MS = 3_600_000
const MAX_STALE_MS = 86_400_000
/** Estimated memory of a decision without its fields and body, in bytes. */
const DECISION_BYTES = 400
const NO_CACHE: NonNullable<ForwardAuthConfig['cache']> = {
  ...{ scope: 'worker', ttl: '0ms', negativeTtl: '0ms', staleIfError: '0ms', maxEntries: 1 },
}

/** Caches the decisions of the authorization server, and calls the server when none is cached. */
export class DecisionCache {
  readonly #answers: AnswerCache<Decision>
  readonly #keyOf: KeyOf
  readonly #ttlMs: number
  readonly #negativeTtlMs: number
  readonly #read: (answer: HttpAnswer) => Decision

  /** @throws Error if a duration is too long or an expression is invalid. */
  constructor(config: ForwardAuthConfig, env: CompileEnv, read: (answer: HttpAnswer) => Decision) {
    // Without a cache, decisions are only shared by concurrent requests.
    const { cache = NO_CACHE, withBody } = config
    this.#read = read
    this.#ttlMs = durationWithin(MAX_TTL_MS, cache.ttl, 'cache.ttl')
    this.#negativeTtlMs = durationWithin(MAX_TTL_MS, cache.negativeTtl, 'cache.negativeTtl')
    const staleMs = durationWithin(MAX_STALE_MS, cache.staleIfError, 'cache.staleIfError')
    const { maxEntries } = cache
    const memory = new CallCache<Decision>({ maxEntries, maxBytes: MAX_BYTES, revalidateMs: 0, staleMs })
    const tier = {
      // Anyone who can write to a store shared by replicas could authorize any caller.
      ...({ scope: 'gateway', downEvent: 'forward_auth_store_down' } as const),
      ...{ space: `forward-auth:${digestOf(config)}`, timeoutMs: parseDuration(config.timeout) },
    }
    const isShared = this.#ttlMs > 0 && cache.scope === 'gateway'
    this.#answers = new AnswerCache(
      memory,
      isShared ? new AnswerTier(env, { ...tier, maxMs: this.#ttlMs }) : null,
    )
    this.#keyOf = cache.key === undefined ? plainKey(withBody) : namedKey(cache.key, env)
  }

  /** Returns the decision about a request, or a promise if the server has to be called. */
  decide(x: Exchange, call: HttpCall, ask: () => Promise<HttpAnswer>): Decision | Promise<Decision> {
    const key = this.#keyOf(x, call)
    if (key === null) return ask().then(this.#read)
    return this.#answers.get(key, {
      ask: async () => {
        const answer = await ask()
        return { answer, found: this.#found(answer) }
      },
      read: (answer) => this.#found(answer),
    })
  }

  #found(answer: HttpAnswer): Found<Decision> {
    const decision = this.#read(answer)
    const { refusal } = decision
    const isUnshared = isPersonal(answer)
    return {
      value: decision,
      ttlMs: isUnshared ? 0 : this.#ttlOf(refusal !== null, answer),
      bytes: DECISION_BYTES + (refusal?.body?.length ?? 0) + lengthOf(decision),
      isNegative: refusal !== null,
      isCallerSpecific: isUnshared,
    }
  }

  #ttlOf(isRefusal: boolean, answer: HttpAnswer): number {
    if (isRefusal && answer.status !== 401 && answer.status !== 403) return 0
    return answerTtlMs(answer, isRefusal ? this.#negativeTtlMs : this.#ttlMs)
  }
}

/** True if the response must not be shared. A redirect may contain the state of a login. */
function isPersonal(answer: HttpAnswer): boolean {
  return isCallerSpecific(answer) || (answer.status >= 300 && answer.status < 400)
}

/** Returns the cache key of a decision, or null if it is neither cached nor shared. */
type KeyOf = (x: Exchange, call: HttpCall) => string | null

/** Builds a key from everything that is sent to the server. Requests with a body have no key. */
function plainKey(withBody: boolean): KeyOf {
  return withBody ? () => null : (_, { headers }) => digestOf(headers)
}

/** Builds a key from the configured expressions. @throws Error if one reads more than the request head. */
function namedKey(texts: readonly string[], env: CompileEnv): KeyOf {
  const parts = texts.map((text) => env.expression(text))
  if (parts.some(({ readsBody, readsResponse }) => readsBody || readsResponse))
    throw new Error(
      "'cache.key' must not read a body or the response; a decision can only depend on the request head",
    )
  return (x) => expressionKey(parts, x)
}

function lengthOf({ refusal, upstreamFields, clientFields }: Decision): number {
  let length = 0
  for (const fields of [refusal?.headers ?? [], upstreamFields, clientFields]) {
    for (const text of fields) length += text.length
  }
  return length
}
