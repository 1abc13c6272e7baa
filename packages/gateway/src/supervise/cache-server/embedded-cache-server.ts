import type { CachePlan } from '@sluice/config'
import { isCacheToken } from '@sluice/config/serving'
import type { CacheSettings } from '../../cache-server/store/settings.js'
import type { OperationLog } from '../../telemetry/operation-log.js'
import { type Preparation, prepared } from '../rollout/preparation.js'
import type { CacheServerStatus } from '../status/status.js'
import { CacheServerKeeper } from './cache-server-keeper.js'

/**
 * The cache server of a gateway whose document has `cache.serve`. It takes part in a rollout like the admin
 * API. A server on a new port starts beside the running one. With other settings on the same port it replaces
 * the running one and starts empty. A server that persists to Valkey always replaces the running one.
 */
export class EmbeddedCacheServer {
  readonly #log: OperationLog
  #keeper: CacheServerKeeper | null = null
  /** True until the supervisor that this one replaces has stopped its server, which may use the same port. */
  #waits: boolean

  constructor(log: OperationLog, waits = false) {
    this.#log = log
    this.#waits = waits
  }

  /** Starts the server, once that of the replaced supervisor has stopped. */
  async begin(): Promise<void> {
    if (!this.#waits) return
    this.#waits = false
    await this.#keeper?.start()
  }

  /** Status for operators, or null if the plan has no cache server. */
  get status(): CacheServerStatus | null {
    const keeper = this.#keeper
    if (keeper === null) return null
    const { host, port, tls } = keeper.settings
    const { process, state, restarts } = keeper
    const rssBytes = process?.rssBytes ?? 0
    return { pid: process?.pid ?? null, state, host, port, tls: tls !== null, restarts, rssBytes }
  }

  /** @param plan cache plan with resolved references. */
  async prepare(plan: CachePlan | null): Promise<Preparation> {
    const settings = settingsOf(plan)
    const last = this.#keeper
    if (JSON.stringify(settings) === JSON.stringify(last?.settings ?? null)) return prepared(async () => {})
    if (settings === null) return prepared(async () => this.#switchTo(null))
    if (settings.token !== null && !isCacheToken(settings.token))
      return { ok: false, reason: 'cache.token must have 16 to 4096 visible ASCII characters' }
    const next = new CacheServerKeeper(settings, this.#log)
    if (last !== null && !canStandBeside(last.settings, settings))
      return prepared(() => this.#replace(last, next))
    if (this.#waits) return prepared(async () => this.#switchTo(next))
    const problem = await next.open()
    if (problem !== null) {
      const reason = `the cache server cannot listen on ${settings.host}:${settings.port} (${problem}); change cache.serve.listen`
      return { ok: false, reason }
    }
    return prepared(
      async () => this.#switchTo(next),
      () => next.end({ isCut: true }),
    )
  }

  /** Stops the server. Call it after the workers have stopped. */
  async close(options: { readonly isCut: boolean }): Promise<void> {
    await this.#keeper?.end(options)
  }

  #switchTo(next: CacheServerKeeper | null): void {
    const last = this.#keeper
    this.#keeper = next
    void last?.end({ isCut: false })
  }

  /** Cuts the requests in flight, so that callers are without a cache only for a moment. */
  async #replace(last: CacheServerKeeper, next: CacheServerKeeper): Promise<void> {
    this.#keeper = next
    await last.end({ isCut: true })
    await next.start()
  }
}

/** Two servers cannot share a port or persist to the same place. */
function canStandBeside(last: CacheSettings, next: CacheSettings): boolean {
  return last.port !== next.port && (last.persist === null || next.persist === null)
}

function settingsOf(plan: CachePlan | null): CacheSettings | null {
  if (plan?.serve === undefined) return null
  const { address: _, persist = null, ...serve } = plan.serve
  return { ...serve, persist, token: plan.token }
}
