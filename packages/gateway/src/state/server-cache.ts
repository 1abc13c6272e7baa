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
import { createHttpClient, type HttpClientSource } from '../compile/http-clients.js'

/** For so long nobody waits for a server that did not answer; then one call tries it again. */
const PAUSE_MS = 1000
/** Values on their way to the server, of a worker. */
const MAX_SENT_BYTES = 16 * 1024 ** 2
const MAX_TYPE_LENGTH = 256

/** What the cache of a snapshot is made of. */
export interface CacheSurroundings extends HttpClientSource {
  readonly memory: StateStore
  readonly report: (event: string, fields: Readonly<Record<string, unknown>>) => void
}

/** The cache of a snapshot: the server that the plan names, else the memory of the gateway. */
export function cacheOf(plan: CachePlan | null, surroundings: CacheSurroundings): CacheStore {
  if (plan === null) return new LocalCache(surroundings.memory)
  const { url: origin, timeoutMs, connections, tls } = plan
  const times = { connectMs: timeoutMs, headersMs: timeoutMs, totalMs: timeoutMs }
  const client = createHttpClient(
    { origin, ...times, connections, tls, maxResponseBytes: MAX_CACHED_BYTES },
    surroundings,
  )
  return new ServerCache(client, plan.token, surroundings.report)
}

/** Values at a cache server, by its API over HTTP. */
export class ServerCache implements CacheStore {
  readonly #client: HttpClient
  readonly #authorization: readonly string[]
  readonly #report: CacheSurroundings['report']
  /** Monotonic clock, ms; 0: the last call was answered. */
  #pausedUntilMono = 0
  #sentBytes = 0

  /** @param token null: the server asks for none. */
  constructor(client: HttpClient, token: string | null, report: CacheSurroundings['report']) {
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
      throw new StateUnavailable('too many values are on their way to the cache server')
    // A call that cannot be sent would look like a server that is down.
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

  /** Reading and writing can be left out; forgetting is tried in any case. */
  #assertUp(): void {
    if (this.#pausedUntilMono === 0) return
    const nowMono = performance.now()
    if (nowMono < this.#pausedUntilMono)
      throw new StateUnavailable('the cache server did not answer a moment ago')
    // One tries while all others still go on without it.
    this.#pausedUntilMono = nowMono + PAUSE_MS
  }

  /** Null: the answer is larger than what policies keep, so that others have written it. */
  async #call(call: HttpCall, expected: readonly number[]): Promise<HttpAnswer | null> {
    const headers = [...this.#authorization, ...(call.headers ?? [])]
    const answer = await this.#client
      .call({ ...call, headers })
      .catch((error: unknown) => this.#failed(error))
    this.#pausedUntilMono = 0
    if (answer === null || expected.includes(answer.status)) return answer
    throw this.#unavailable(problemOf(answer.status))
  }

  /** A queue of our own that is full, or a value that is too large, says nothing of the server. */
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

function problemOf(status: number): string {
  return status === 401 ? 'it refuses the token' : `it answered with the status ${status}`
}

/** The server takes escapes off once. */
function pathOf(space: string, key: string): string {
  return `/v1/cache/${space}/${key.replaceAll('%', '%25')}`
}
