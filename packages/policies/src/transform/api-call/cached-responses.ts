import { createHash } from 'node:crypto'
import { type CallNote, type CompileEnv, type Exchange, type HttpAnswer, parseDuration } from '@sluice/core'
import { AnswerCache, AnswerTier } from '../../shared/call/answer-cache.js'
import { CallCache, type Found } from '../../shared/call/call-cache.js'
import { durationWithin } from '../../shared/call/call-options.js'
import { answerTtlMs, digestOf, expressionKey, isCallerSpecific } from '../../shared/call/call-sharing.js'
import type { BuiltCall } from './call-request.js'
import type { CallConfig } from './schema.js'

const MAX_BYTES = 16 * 1024 * 1024
const MAX_MS = 86_400_000
/** Estimated memory of a cached response without its header fields and body, in bytes. */
const ANSWER_BYTES = 300
const NO_CACHE = {
  ...{ scope: 'worker' as const, maxEntries: 1 },
  ...{ ttl: '0ms', revalidate: '0ms', staleIfError: '0ms' },
}

/** A response and its origin: the call itself, another request's call, or a cache. */
export interface CallResponse {
  readonly answer: HttpAnswer
  readonly from: CallNote['from']
}

interface CachedResponsesContext {
  readonly env: CompileEnv
  /** Other inputs that identify a call. Responses are shared only between uses for which these are equal. */
  readonly use: unknown
  /** Returns true if the status of the response is an expected one. */
  readonly isExpected: (answer: HttpAnswer) => boolean
}

/** Caches the responses of one call, and makes the call when none is cached. */
export class CachedResponses {
  readonly #answers: AnswerCache<HttpAnswer>
  readonly #keyOf: KeyOf
  readonly #ttlMs: number
  readonly #isExpected: (answer: HttpAnswer) => boolean

  /** @throws Error if a duration is too long or an expression is invalid. */
  constructor(config: CallConfig, { env, use, isExpected }: CachedResponsesContext) {
    const { cache, method, coalesce } = config
    const { scope, ttl, revalidate, staleIfError, maxEntries } = cache ?? NO_CACHE
    this.#ttlMs = durationWithin(MAX_MS, ttl, 'cache.ttl')
    const options = {
      ...{ maxEntries, maxBytes: MAX_BYTES },
      revalidateMs: durationWithin(MAX_MS, revalidate, 'cache.revalidate'),
      staleMs: durationWithin(MAX_MS, staleIfError, 'cache.staleIfError'),
    }
    const space = `api-call:${digestOf([use, config])}`
    const memory = env.shared(space, () => new CallCache<HttpAnswer>(options))
    const tier = { space, timeoutMs: parseDuration(config.timeout), maxMs: this.#ttlMs }
    this.#answers = new AnswerCache(
      memory,
      scope === 'worker' ? null : new AnswerTier(env, { scope, ...tier, downEvent: 'api_call_store_down' }),
    )
    const isShared = coalesce ?? (cache !== undefined || method === 'GET' || method === 'HEAD')
    if (!isShared && cache !== undefined) throw new Error("'cache' needs 'coalesce'; remove coalesce: false")
    this.#keyOf = !isShared ? () => null : cache?.key === undefined ? sentKey : namedKey(cache, env)
    this.#isExpected = isExpected
  }

  /**
   * Returns the response to a call, or a promise if the server has to be called. Rejects with the error of
   * `ask`.
   */
  find(x: Exchange, call: SentCall, ask: () => Promise<HttpAnswer>): CallResponse | Promise<CallResponse> {
    const key = this.#keyOf(x, call)
    if (key === null) return ask().then((answer) => ({ answer, from: 'call' }))
    const own: { from: CallNote['from'] } = { from: 'joined' }
    const found = this.#answers.get(key, {
      ask: async () => {
        // Remains 'stale' if the call fails and an expired response is used instead.
        own.from = 'stale'
        const answer = await ask()
        own.from = 'call'
        return { answer, found: this.#found(answer) }
      },
      read: (answer) => {
        own.from = 'shared'
        return this.#found(answer)
      },
    })
    if (!(found instanceof Promise)) return { answer: found, from: 'cache' }
    return found.then((answer) => ({ answer, from: own.from }))
  }

  #found(answer: HttpAnswer): Found<HttpAnswer> {
    const isPersonal = isCallerSpecific(answer)
    let bytes = ANSWER_BYTES + answer.body.length
    for (const text of answer.headers) bytes += text.length
    const ttlMs = isPersonal || !this.#isExpected(answer) ? 0 : answerTtlMs(answer, this.#ttlMs)
    return { value: answer, ttlMs, bytes, isNegative: false, isCallerSpecific: isPersonal }
  }
}

/** A call and the origin it is sent to. */
export interface SentCall extends BuiltCall {
  readonly origin: string
}

/** Returns the cache key of a call, or null if its response is neither cached nor shared. */
type KeyOf = (x: Exchange, call: SentCall) => string | null

/** Builds a key from everything that is sent, except for fields that identify the individual request. */
function sentKey(_: Exchange, { method, origin, path, headers, body }: SentCall): string {
  const hash = createHash('sha256').update(JSON.stringify([method, origin, path, headers]))
  if (body) hash.update(body)
  return hash.digest('base64url')
}

function namedKey({ key = [], shared }: NonNullable<CallConfig['cache']>, env: CompileEnv): KeyOf {
  const parts = key.map((text) => env.expression(text))
  return (x) => expressionKey(parts, x, ...(shared ? [] : [x.consumer?.id ?? null]))
}
