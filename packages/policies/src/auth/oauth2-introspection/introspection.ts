import { hash } from 'node:crypto'
import { type CompileEnv, HttpCallFailed } from '@sluice/core'
import { type BuildClientCall, compileClientCalls } from '../../identity/oauth/client-auth.js'
import type { ForwardedClaims } from '../../identity/token/forwarded-claims.js'
import type { VerifiedToken } from '../../identity/token/token-reader.js'
import { AnswerCache, AnswerTier, type Asked } from '../../shared/call/answer-cache.js'
import { CallBreaker } from '../../shared/call/call-breaker.js'
import { CallCache } from '../../shared/call/call-cache.js'
import { durationWithin } from '../../shared/call/call-options.js'
import { digestOf } from '../../shared/call/call-sharing.js'
import { type OpenEndpoint, openEndpoint } from '../../shared/call/endpoint.js'
import { AnswerReader, IntrospectionFailed, type IntrospectionRefusals } from './answer-reader.js'
import type { IntrospectionConfig } from './schema.js'

const MAX_TTL_MS = 3_600_000
const MAX_STALE_MS = 86_400_000
const MAX_OPEN_MS = 300_000
const MAX_ANSWER_BYTES = 64 * 1024
const MAX_CACHE_BYTES = 16 * 1024 * 1024

/** Client of the introspection endpoint (RFC 7662). Calls it once per token and caches the response. */
export class Introspection {
  readonly #endpoint: OpenEndpoint
  readonly #build: BuildClientCall
  readonly #reader: AnswerReader
  readonly #answers: AnswerCache<VerifiedToken>
  readonly #breaker: CallBreaker
  /** Digest of the configuration, the same in all workers. */
  readonly #digestKey: string

  /** @throws Error for unusable keys, and times above the maximum. */
  constructor(
    config: IntrospectionConfig,
    refusals: IntrospectionRefusals,
    forwarded: ForwardedClaims,
    env: CompileEnv,
  ) {
    const { cache, breaker } = config
    this.#endpoint = openEndpoint({ ...config, maxResponseBytes: MAX_ANSWER_BYTES }, env)
    this.#build = compileClientCalls(config, config.url)
    const ttlMs = durationWithin(MAX_TTL_MS, cache.ttl, 'cache.ttl')
    const negativeTtlMs = durationWithin(MAX_TTL_MS, cache.negativeTtl, 'cache.negativeTtl')
    this.#reader = new AnswerReader(config, refusals, forwarded, { ttlMs, negativeTtlMs })
    const memory = new CallCache<VerifiedToken>({
      ...{ maxEntries: cache.maxEntries, maxBytes: MAX_CACHE_BYTES, revalidateMs: 0 },
      staleMs: durationWithin(MAX_STALE_MS, cache.staleIfError, 'cache.staleIfError'),
    })
    this.#breaker = new CallBreaker({
      failures: breaker.failures,
      openMs: durationWithin(MAX_OPEN_MS, breaker.openFor, 'breaker.openFor'),
    })
    this.#digestKey = digestOf(config)
    const tier = {
      // Anyone with write access to a store shared by replicas could admit any token.
      ...({ scope: 'gateway', downEvent: 'introspection_store_down' } as const),
      space: `oauth2-introspection:${hash('sha256', this.#digestKey, 'base64url')}`,
      ...{ timeoutMs: this.#endpoint.totalMs, maxMs: Math.max(ttlMs, negativeTtlMs) },
    }
    const isShared = cache.scope === 'gateway' && ttlMs > 0
    this.#answers = new AnswerCache(memory, isShared ? new AnswerTier(env, tier) : null)
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
    const { client, path } = this.#endpoint
    try {
      const call = await this.#build({ token, token_type_hint: 'access_token' }, hop)
      const answer = await client.call({ ...call, path })
      const found = this.#reader.read(answer)
      this.#breaker.note(true)
      return { answer, found }
    } catch (error) {
      if (isServerFailure(error)) this.#breaker.note(false)
      throw error
    }
  }
}

/** True if the server caused the failure. Bad tokens and overload must not open the circuit breaker. */
function isServerFailure(error: unknown): boolean {
  if (error instanceof HttpCallFailed) return error.failure !== 'busy' && error.failure !== 'tooLarge'
  return !(error instanceof IntrospectionFailed) || !error.concernsToken
}
