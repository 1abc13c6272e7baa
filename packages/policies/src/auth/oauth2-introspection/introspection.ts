import { hash } from 'node:crypto'
import { type CompileEnv, FORM_TYPE, type HttpAnswer, HttpCallFailed, type HttpClient } from '@sluice/core'
import { type ClientAuth, compileClientAuth } from '../../identity/client-auth/client-auth.js'
import type { VerifiedToken } from '../../identity/token/verified-tokens.js'
import {
  AnswerCache,
  AnswerTier,
  type AnswerTierOptions,
  type Asked,
} from '../../shared/call/answer-cache.js'
import { CallBreaker } from '../../shared/call/call-breaker.js'
import { CallCache } from '../../shared/call/call-cache.js'
import { callOptions, durationWithin } from '../../shared/call/call-options.js'
import { digestOf } from '../../shared/call/call-sharing.js'
import { parseEndpoint } from '../../shared/call/endpoint.js'
import { type AnswerReader, IntrospectionFailed, type Lifetimes } from './answer-reader.js'
import {
  DEFAULT_ENTRIES,
  DEFAULT_FAILURES,
  DEFAULT_NEGATIVE_TTL,
  DEFAULT_OPEN,
  DEFAULT_STALE,
  DEFAULT_TIMEOUT,
  DEFAULT_TTL,
  type IntrospectionConfig,
} from './schema.js'

const MAX_TTL_MS = 3_600_000
const MAX_STALE_MS = 86_400_000
const MAX_OPEN_MS = 300_000
const MAX_ANSWER_BYTES = 64 * 1024
const MAX_CACHE_BYTES = 16 * 1024 * 1024

/** Returns the cache times for responses. @throws Error for times above the maximum. */
export function lifetimesOf({ cache = {} }: IntrospectionConfig): Lifetimes {
  return {
    ttlMs: durationWithin(MAX_TTL_MS, cache.ttl ?? DEFAULT_TTL, 'cache.ttl'),
    negativeTtlMs: durationWithin(MAX_TTL_MS, cache.negativeTtl ?? DEFAULT_NEGATIVE_TTL, 'cache.negativeTtl'),
  }
}

/** Client of the introspection endpoint (RFC 7662). Calls it once per token and caches the response. */
export class Introspection {
  readonly #path: string
  readonly #client: HttpClient
  readonly #authenticate: ClientAuth
  readonly #reader: AnswerReader
  readonly #answers: AnswerCache<VerifiedToken>
  readonly #breaker: CallBreaker
  /** Digest of the configuration, the same in all workers. */
  readonly #digestKey: string

  /** @throws Error for unusable keys. */
  constructor(config: IntrospectionConfig, env: CompileEnv, reader: AnswerReader) {
    const { cache = {}, breaker = {} } = config
    const { origin, path } = parseEndpoint(config.url, 'url')
    this.#path = path
    const { timeout = DEFAULT_TIMEOUT, tls } = config
    const bounds = callOptions({ timeout, tls })
    this.#client = env.httpClient({ origin, ...bounds, maxResponseBytes: MAX_ANSWER_BYTES })
    this.#authenticate = compileClientAuth(config, config.url)
    this.#reader = reader
    const { ttlMs, negativeTtlMs } = lifetimesOf(config)
    const memory = new CallCache<VerifiedToken>({
      ...{ maxEntries: cache.maxEntries ?? DEFAULT_ENTRIES, maxBytes: MAX_CACHE_BYTES, revalidateMs: 0 },
      staleMs: durationWithin(MAX_STALE_MS, cache.staleIfError ?? DEFAULT_STALE, 'cache.staleIfError'),
    })
    this.#breaker = new CallBreaker({
      failures: breaker.failures ?? DEFAULT_FAILURES,
      openMs: durationWithin(MAX_OPEN_MS, breaker.openFor ?? DEFAULT_OPEN, 'breaker.openFor'),
    })
    this.#digestKey = digestOf(config)
    const isShared = cache.scope !== 'worker' && ttlMs > 0
    const times = { timeoutMs: bounds.totalMs, maxMs: Math.max(ttlMs, negativeTtlMs) }
    this.#answers = new AnswerCache(memory, isShared ? openTier(this.#digestKey, times, env) : null)
  }

  /**
   * Returns the verified token.
   * @param hop header that counts the calls between gateways.
   * @throws HttpCallFailed, IntrospectionFailed.
   */
  tokenOf(token: string, hop: readonly [string, string]): VerifiedToken | Promise<VerifiedToken> {
    const key = hash('sha256', `${this.#digestKey}${token}`, 'base64url')
    return this.#answers.get(key, {
      ask: () => this.#ask(token, hop),
      read: (answer, leftMs) => this.#reader.read(answer, leftMs),
    })
  }

  async #ask(token: string, hop: readonly [string, string]): Promise<Asked<VerifiedToken>> {
    if (!this.#breaker.admits())
      throw new IntrospectionFailed('the circuit breaker is open after repeated failures of the server')
    try {
      const answer = await this.#call(token, hop)
      const found = this.#reader.read(answer)
      this.#breaker.note(true)
      return { answer, found }
    } catch (error) {
      if (isServerFailure(error)) this.#breaker.note(false)
      throw error
    }
  }

  async #call(token: string, hop: readonly [string, string]): Promise<HttpAnswer> {
    const form = new URLSearchParams({ token, token_type_hint: 'access_token' })
    const headers = ['content-type', FORM_TYPE, 'accept', 'application/json', ...hop]
    await this.#authenticate(form, headers)
    return this.#client.call({
      ...{ method: 'POST', path: this.#path, headers },
      body: Buffer.from(form.toString()),
    })
  }
}

/** True if the server caused the failure. Bad tokens and overload must not open the circuit breaker. */
function isServerFailure(error: unknown): boolean {
  if (error instanceof HttpCallFailed) return error.failure !== 'busy' && error.failure !== 'tooLarge'
  return !(error instanceof IntrospectionFailed) || !error.concernsToken
}

/**
 * Uses only the gateway's own store. Anyone with write access to a store shared by replicas could admit any
 * token.
 */
function openTier(
  digestKey: string,
  times: Pick<AnswerTierOptions, 'timeoutMs' | 'maxMs'>,
  env: CompileEnv,
): AnswerTier {
  const space = `oauth2-introspection:${hash('sha256', digestKey, 'base64url')}`
  return new AnswerTier(env, { scope: 'gateway', space, ...times, downEvent: 'introspection_store_down' })
}
