import { messageOf } from '@sluice/core'
import { errorFields, type OperationLog } from '../telemetry/operation-log.js'
import type { EmbeddedCacheServer } from './cache-server/embedded-cache-server.js'
import type { ControllerLink } from './control/controller-link.js'
import type { FleetFile } from './fleet-file.js'
import type { PersistentMemory } from './limits/persistent-memory.js'
import type { ListenerPorts } from './listeners/listener-ports.js'
import { sendMemory } from './parent/parent-copy.js'
import {
  hasParent,
  notifyParent,
  onParentMessage,
  replacedPid,
  type ToSupervisor,
  type UpgradeResult,
} from './parent/parent-link.js'
import { acceptInherited, inheritSocket, offeredSockets } from './parent/passed-sockets.js'
import type { Deployment } from './rollout/deployment.js'
import type { Endpoint } from './rollout/preparation.js'

/** A server for operators. */
type Closable = Pick<Endpoint<never>, 'close'>

interface SuccessionDependencies {
  readonly memory: PersistentMemory
  readonly endpoints: { readonly admin: Closable; readonly metrics: Closable }
  readonly cacheServer: EmbeddedCacheServer
  readonly ports: ListenerPorts
  readonly controller: Pick<ControllerLink, 'close'>
  readonly fleetFile: FleetFile
  readonly deployment: Pick<Deployment, 'handOver'>
  readonly supervisor: {
    status(): { readonly ready: boolean; readonly draining: boolean }
    drain(reason: string, options: { readonly delayMs: number }): Promise<number>
  }
  readonly log: OperationLog
}

/** The handover of a supervisor to that of the next version (docs/internals/adr/0049), on both sides. */
export class Succession {
  /** True while an upgrade is running, and after it has succeeded. */
  isUpgrading = false
  /** True once another version serves. */
  isReplaced = false
  /** Resolves when no connections of operators are left. */
  hasLeft: Promise<unknown> = Promise.resolve()
  readonly #dependencies: SuccessionDependencies
  readonly #stop: () => void
  readonly #handedOver: Promise<void>
  #onHandedOver: () => void = () => {}
  #onUpgraded: (result: UpgradeResult) => void = () => {}

  constructor(dependencies: SuccessionDependencies) {
    this.#dependencies = dependencies
    this.#handedOver = new Promise((resolve) => {
      this.#onHandedOver = resolve
    })
    this.#stop = onParentMessage((message, handle) => this.#onMessage(message, handle))
  }

  /**
   * Has the parent start the next version beside this one. Deploys wait, because the next version takes over the
   * active document. Resolves when the next version serves, or with the reason why this one continues.
   */
  async upgrade(actor: string): Promise<UpgradeResult> {
    const { deployment, supervisor, log } = this.#dependencies
    const { ready, draining } = supervisor.status()
    if (!ready || draining) return { ok: false, reason: 'the gateway is not ready' }
    if (this.isUpgrading) return { ok: false, reason: 'an upgrade is in progress' }
    this.isUpgrading = true
    log.info('upgrade.requested', { actor })
    const result = await deployment.handOver(() => this.#request())
    this.isUpgrading = result.ok
    if (!result.ok) log.error('upgrade.refused', { actor, reason: result.reason })
    return result
  }

  /** Resolves when everything has arrived that a next version needs to start. */
  async receive(): Promise<void> {
    if (replacedPid() === null) return
    process.once('disconnect', exitEarly)
    await this.#handedOver
  }

  /** Takes over the addresses for operators and the files in the data directory. */
  async begin(): Promise<void> {
    await acceptInherited()
    process.off('disconnect', exitEarly)
    this.#dependencies.memory.beginSaving()
  }

  /** Reports a failed start. In an upgrade, workers may have requests already, so they finish. */
  fail(error: unknown): void {
    void notifyParent({ state: 'failed', reason: messageOf(error) })
    if (replacedPid() !== null) this.#leave()
  }

  close(): void {
    this.#stop()
  }

  /** Asks the parent for the next version, and hands over what that one needs to start. */
  async #request(): Promise<UpgradeResult> {
    const reason = 'the process that started this gateway is gone, or it was not started by gw start'
    if (!hasParent()) return { ok: false, reason }
    const result = new Promise<UpgradeResult>((resolve) => {
      this.#onUpgraded = resolve
      process.once('disconnect', () => resolve({ ok: false, reason }))
    })
    void notifyParent({ state: 'upgrade' })
    await sendMemory(this.#dependencies.memory)
    for (const [socket, handle] of offeredSockets())
      void notifyParent({ state: 'handover', message: { socket } }, handle)
    void notifyParent({ state: 'handover', message: { phase: 'handed-over' } })
    return result
  }

  #onMessage(message: ToSupervisor, handle: unknown): void {
    if ('upgrade' in message) this.#onUpgraded(message.upgrade)
    else if ('socket' in message) inheritSocket(message.socket, handle)
    else if (!('phase' in message)) return
    else if (message.phase === 'handed-over') this.#onHandedOver()
    else if (message.phase === 'replaced') this.#leave()
    else void this.#takeNames()
  }

  /** Leaves everything to the other version: ports, files, the controller and the addresses for operators. */
  #leave(): void {
    if (this.isReplaced) return
    this.isUpgrading = true
    this.isReplaced = true
    const { memory, endpoints, cacheServer, controller, fleetFile, supervisor } = this.#dependencies
    void sendMemory(memory) // again: it has changed during the upgrade
    fleetFile.leave()
    memory.leave()
    controller.close()
    this.hasLeft = Promise.all([endpoints.admin.close(true), endpoints.metrics.close(true)])
    void supervisor.drain('another version serves', { delayMs: 0 })
    const release = () => notifyParent({ state: 'handover', message: { phase: 'released' } })
    void cacheServer.close({ isCut: true }).then(release)
  }

  /** Uses the names of the ports and the address of the cache server, which the last version has released. */
  async #takeNames(): Promise<void> {
    const { ports, cacheServer, log } = this.#dependencies
    try {
      await Promise.all([ports.reserve(), cacheServer.begin()])
    } catch (error) {
      log.error('upgrade.incomplete', errorFields(error))
    }
  }
}

/** Ends a supervisor whose parent is gone before it serves. The last version continues. */
function exitEarly(): void {
  process.exit(1)
}
