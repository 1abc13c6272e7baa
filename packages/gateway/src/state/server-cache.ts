import type { CachePlan } from '@sluice/config'
import {
  type CachedValue,
  type CacheStore,
  type HttpAnswer,
  type HttpCall,
  HttpCallFailed,
  type HttpClient,
  headerValue,
  isFieldValue,
  LocalCache,
  MAX_CACHED_BYTES,
  type StateStore,
  StateUnavailable,
} from '@sluice/core'
import { createHttpClient, type HttpClientSource } from '../upstream/outbound/http-clients.js'

/** Time in milliseconds without calls after a failure. Then one call tries again. */
const PAUSE_MS = 1000
/** Maximum number of bytes being sent per worker. */
const MAX_SENT_BYTES = 16 * 1024 ** 2
const MAX_TYPE_LENGTH = 256

interface CacheDependencies extends HttpClientSource {
  readonly memory: StateStore
  readonly report: (event: string, fields: Readonly<Record<string, unknown>>) => void
}

/** Returns the cache of a snapshot: the server in the plan, or the gateway's memory. */
export function cacheOf(plan: CachePlan | null, dependencies: CacheDependencies): CacheStore {
  if (plan === null) return new LocalCache(dependencies.memory)
  const { url: origin, timeoutMs, connections, tls } = plan
  const times = { connectMs: timeoutMs, headersMs: timeoutMs, totalMs: timeoutMs }
  const client = createHttpClient(
    { origin, ...times, connections, tls, maxResponseBytes: MAX_CACHED_BYTES },
    dependencies,
  )
  return new ServerCache(client, plan.token, dependencies.report)
}

/** A cache on a cache server, over its HTTP API. */
export class ServerCache implements CacheStore {
  readonly #client: HttpClient
  readonly #authorization: readonly string[]
  readonly #report: CacheDependencies['report']
  /** End of the pause on the monotonic clock in milliseconds; 0 if the last call was answered. */
  #pausedUntilMono = 0
  #sentBytes = 0

  /** @param token token, or null if the server requires none. */
  constructor(client: HttpClient, token: string | null, report: CacheDependencies['report']) {
    this.#client = client
    this.#authorization = token === null ? [] : ['authorization', `Bearer ${token}`]
    this.#report = report
  }

  async get(space: string, key: string): Promise<CachedValue | null> {
    this.#assertUp()
    const answer = await this.#call({ method: 'GET', path: pathOf(space, key) }, [200, 404])
    if (answer === null || answer.status === 404) return null
    return { bytes: answer.body, contentType: headerValue(answer.headers, 'content-type') ?? '' }
  }

  async put(
    space: string,
    key: string,
    { bytes, contentType }: CachedValue,
    ttlMs: number,
  ): Promise<boolean> {
    this.#assertUp()
    if (this.#sentBytes + bytes.length > MAX_SENT_BYTES)
      throw new StateUnavailable('too many values are being sent to the cache server')
    // Leave out a type that cannot be sent: the failure would look like a server that is down.
    const hasType = contentType !== '' && contentType.length <= MAX_TYPE_LENGTH && isFieldValue(contentType)
    const headers = hasType ? ['content-type', contentType] : []
    const path = `${pathOf(space, key)}?ttl=${Math.ceil(ttlMs)}ms`
    this.#sentBytes += bytes.length
    try {
      const answer = await this.#call({ method: 'PUT', path, headers, body: bytes }, [204, 413])
      return answer?.status === 204
    } finally {
      this.#sentBytes -= bytes.length
    }
  }

  async delete(space: string, key: string): Promise<void> {
    await this.#call({ method: 'DELETE', path: pathOf(space, key) }, [204, 404])
  }

  async deleteAll(space: string): Promise<void> {
    await this.#call({ method: 'POST', path: pathOf(space, '_purge') }, [200])
  }

  /** Throws during a pause. Reads and writes can be skipped; deletions are always attempted. */
  #assertUp(): void {
    if (this.#pausedUntilMono === 0) return
    const nowMono = performance.now()
    if (nowMono < this.#pausedUntilMono)
      throw new StateUnavailable('the cache server did not answer recently')
    // This call tries the server again while others still do without it.
    this.#pausedUntilMono = nowMono + PAUSE_MS
  }

  /**
   * Calls the server. Returns null if the response is larger than any value that policies store, so something
   * else wrote it.
   */
  async #call(call: HttpCall, expected: readonly number[]): Promise<HttpAnswer | null> {
    const headers = [...this.#authorization, ...(call.headers ?? [])]
    const answer = await this.#client
      .call({ ...call, headers })
      .catch((error: unknown) => this.#failed(error))
    this.#pausedUntilMono = 0
    if (answer === null || expected.includes(answer.status)) return answer
    throw this.#unavailable(
      answer.status === 401 ? 'the token was refused' : `unexpected status ${answer.status}`,
    )
  }

  /** Handles a failed call. A full local queue or a value that is too large says nothing about the server. */
  #failed(error: unknown): null {
    if (!(error instanceof HttpCallFailed)) throw error
    if (error.failure === 'tooLarge') return null
    if (error.failure === 'busy') throw new StateUnavailable(`the cache server: ${error.message}`)
    const unavailable = this.#unavailable(error.message)
    this.#pausedUntilMono = performance.now() + PAUSE_MS
    throw unavailable
  }

  #unavailable(problem: string): StateUnavailable {
    if (this.#pausedUntilMono === 0) this.#report('cache_server_down', { problem })
    return new StateUnavailable(`the cache server: ${problem}`)
  }
}

/** Returns the path of a key. The server decodes escapes once. */
function pathOf(space: string, key: string): string {
  return `/v1/cache/${space}/${key.replaceAll('%', '%25')}`
}
