import type { AdminPlan } from '@sluice/config'
import { messageOf, readTlsFiles } from '@sluice/core'
import type { AdminBackend } from '../supervise/admin-backend.js'
import { addressText } from '../supervise/listeners/listener-ports.js'
import { byHolder } from '../supervise/listeners/port-holder.js'
import { type Endpoint, type Preparation, prepared } from '../supervise/rollout/preparation.js'
import { errorFields, type OperationLog } from '../telemetry/operation-log.js'
import { AdminServer, type TlsFiles } from './admin-server.js'
import { Authenticator } from './authenticator.js'

/**
 * The admin API. It moves to another address when a plan says so, and takes part in a rollout like a worker.
 */
export class AdminEndpoint implements Endpoint<AdminPlan> {
  readonly #backend: AdminBackend
  readonly #log: OperationLog
  /** Shared by all addresses, so that a move does not reset the count of wrong tokens. */
  readonly #authenticator = new Authenticator()
  #serving: AdminServer | null = null

  constructor(backend: AdminBackend, log: OperationLog) {
    this.#backend = backend
    this.#log = log
  }

  /** Base URL, such as `http://127.0.0.1:9901`; null before the first plan. */
  get url(): string | null {
    if (this.#serving === null) return null
    const { plan, port } = this.#serving
    return `${plan.tls === null ? 'http' : 'https'}://${addressText(plan.host, port)}`
  }

  /** Opens a server for the plan beside the running one. */
  async prepare(plan: AdminPlan): Promise<Preparation> {
    let tls: TlsFiles | null
    try {
      tls = tlsFiles(plan)
    } catch (error) {
      const reason = messageOf(error)
      return { ok: false, reason: `cannot read admin.tls (${reason}); check certFile and keyFile` }
    }
    const last = this.#serving
    if (last?.plan.address !== plan.address) return this.#prepareMove(plan, tls)
    const isSameKind = (last.plan.tls === null) === (plan.tls === null)
    const activate = isSameKind ? () => this.#renew(last, plan, tls) : () => this.#reopen(last, plan, tls)
    return prepared(activate)
  }

  async close(isReplaced = false): Promise<void> {
    const last = this.#serving
    this.#serving = null
    await last?.close(isReplaced)
  }

  /**
   * Opens another address. The first server responds immediately (not ready: no configuration is active);
   * later ones open beside the old one.
   */
  async #prepareMove(plan: AdminPlan, tls: TlsFiles | null): Promise<Preparation> {
    const last = this.#serving
    if (last === null) this.#authenticator.use(plan.tokens)
    let next: AdminServer
    try {
      next = this.#server(plan, tls)
      await next.listen()
    } catch (error) {
      return { ok: false, reason: await listenReason(plan, error) }
    }
    if (last === null) this.#serving = next
    const activate = async (): Promise<void> => {
      this.#authenticator.use(plan.tokens)
      this.#serving = next
      if (last === null) return
      this.#log.info('admin.moved', { url: this.url })
      this.#leave(last)
    }
    const discard = async (): Promise<void> => {
      if (this.#serving === next) this.#serving = null
      await next.close()
    }
    return prepared(activate, discard)
  }

  /** Updates tokens, certificate and dashboard of a server that keeps its address. */
  async #renew(last: AdminServer, plan: AdminPlan, tls: TlsFiles | null): Promise<void> {
    this.#authenticator.use(plan.tokens)
    last.renew(plan, tls)
  }

  /**
   * Switches between plain HTTP and TLS on one address. The port must be freed first, so the admin API is
   * briefly unavailable.
   */
  async #reopen(last: AdminServer, plan: AdminPlan, tls: TlsFiles | null): Promise<void> {
    this.#authenticator.use(plan.tokens)
    try {
      this.#leave(last)
      const next = this.#server(plan, tls)
      await next.listen()
      this.#serving = next
    } catch (error) {
      this.#log.error('admin.lost', { address: plan.address, ...errorFields(error) })
    }
  }

  #server(plan: AdminPlan, tls: TlsFiles | null): AdminServer {
    return new AdminServer({
      plan,
      tls,
      backend: this.#backend,
      authenticator: this.#authenticator,
      log: this.#log,
    })
  }

  /**
   * Closes a server in the background: it still has to send the response to the request that caused the move.
   */
  #leave(last: AdminServer): void {
    void last.close()
  }
}

function tlsFiles({ tls }: AdminPlan): TlsFiles | null {
  if (tls === null) return null
  const { cert, key } = readTlsFiles(tls, 'admin.tls')
  return { cert: cert!, key: key! }
}

async function listenReason(plan: AdminPlan, error: unknown): Promise<string> {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  if (code === 'EADDRINUSE')
    return `address ${plan.address} is in use${await byHolder(plan.port)}; stop the other process, change admin.address, or add admin: { address: 127.0.0.1:9902 } to the document`
  const reason = messageOf(error)
  return `the admin API cannot listen on ${plan.address} (${reason}); change admin.address or admin.tls`
}
