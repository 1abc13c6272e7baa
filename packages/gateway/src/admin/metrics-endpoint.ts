import type { Address } from '@sluice/config'
import { messageOf } from '@sluice/core'
import type { AdminBackend } from '../supervise/admin-backend.js'
import { addressText } from '../supervise/listeners/listener-ports.js'
import { type Endpoint, type Preparation, prepared } from '../supervise/rollout/preparation.js'
import type { OperationLog } from '../telemetry/operation-log.js'
import { AdminServer } from './admin-server.js'
import { Authenticator } from './authenticator.js'
import { METRICS_ENDPOINTS } from './endpoints.js'

/** Optional listener for metrics and health beside the admin API, without tokens. */
export class MetricsEndpoint implements Endpoint<Address | undefined> {
  readonly #backend: AdminBackend
  readonly #log: OperationLog
  #serving: AdminServer | null = null

  constructor(backend: AdminBackend, log: OperationLog) {
    this.#backend = backend
    this.#log = log
  }

  /** Base URL, such as `http://10.0.0.7:9902`; null if there is none. */
  get url(): string | null {
    if (this.#serving === null) return null
    return `http://${addressText(this.#serving.plan.host, this.#serving.port)}`
  }

  /** Opens a plan's address beside the active one. It takes part in a rollout like the admin API. */
  async prepare(address: Address | undefined): Promise<Preparation> {
    const last = this.#serving
    if (last?.plan.address === address?.address) return prepared(async () => {})
    if (address === undefined) return prepared(async () => this.#serveBy(null))
    const next = this.#server(address)
    try {
      await next.listen()
    } catch (error) {
      const reason = messageOf(error)
      return {
        ok: false,
        reason: `cannot listen for metrics on ${address.address} (${reason}); change metrics.address`,
      }
    }
    return prepared(
      async () => this.#serveBy(next),
      () => next.close(),
    )
  }

  async close(isReplaced = false): Promise<void> {
    const last = this.#serving
    this.#serving = null
    await last?.close(isReplaced)
  }

  #serveBy(next: AdminServer | null): void {
    const last = this.#serving
    this.#serving = next
    void last?.close()
  }

  #server(address: Address): AdminServer {
    return new AdminServer({
      plan: { ...address, tls: null, tokens: [] },
      tls: null,
      backend: this.#backend,
      // No tokens are required.
      authenticator: new Authenticator(),
      log: this.#log,
      openEndpoints: METRICS_ENDPOINTS,
    })
  }
}
