import { setTimeout as delay } from 'node:timers/promises'
import type { ListenerPlan, Plan } from '@sluice/config'
import type { Listener, ListenerSettings } from '../listen/listener.js'
import { limitReceiveBuffers, listeningSockets } from '../listen/uws/receive-buffer.js'
import { openConnections } from './drain-in-flight.js'
import { keyOf, settingsWithin } from './listener-settings.js'

/** Longest wait for removed listeners to stop, in milliseconds. Usually they need a few turns of the event loop. */
const STOP_MS = 1000

interface WorkerListenersOptions {
  /** Creates a listener without opening it. @throws Error if a certificate cannot be read. */
  readonly create: (plan: ListenerPlan, settings: ListenerSettings) => Listener
  /** Maximum number of open descriptors. */
  readonly descriptors: number
  /** True to bound receive buffers. */
  readonly isReceiveBounded: boolean
  readonly onFault: (error: unknown) => void
}

interface WorkerListener {
  readonly plan: ListenerPlan
  readonly listener: Listener
  /** Resolves when the receive buffers are bounded. Until then, a helper process keeps the listening socket open. */
  bounded: Promise<void>
}

/** New listeners of a bundle. Call `discard`, or `open` and then `activate`. */
export interface PreparedListeners {
  /** True if `open` has nothing to do. */
  readonly isOpen: boolean
  /** Opens the listeners that are not open yet. @throws Error if that fails */
  open(): Promise<void>
  /** Closes removed listeners. Resolves when they accept no more connections, at the latest after a second. */
  activate(): Promise<void>
  discard(): void
}

/** The listeners of a worker: those of the active bundle, and those of a prepared one. */
export class WorkerListeners {
  readonly #options: WorkerListenersOptions
  #active = new Map<string, WorkerListener>()
  /** Listeners of a bundle that is not active yet. */
  readonly #coming = new Set<WorkerListener>()

  constructor(options: WorkerListenersOptions) {
    this.#options = options
  }

  get all(): Listener[] {
    return [...this.#active.values(), ...this.#coming].map(({ listener }) => listener)
  }

  get connections(): number {
    return openConnections([...this.#active.values()].map(({ listener }) => listener))
  }

  /**
   * Creates the new listeners of a plan. Those at new addresses open now. The others replace an active listener and
   * open before the activation, because their TLS settings are not in force yet.
   * @param isLate true to open all of them before the activation.
   * @throws Error if one cannot be opened; everything is undone then.
   */
  async prepare(plan: Plan, isLate: boolean): Promise<PreparedListeners> {
    const added: WorkerListener[] = []
    const discard = (): void => {
      for (const entry of added) {
        this.#coming.delete(entry)
        entry.listener.terminate()
      }
    }
    const isReplacing = ({ plan }: WorkerListener): boolean => this.#activeAt(plan) !== null
    try {
      const settings = settingsWithin(plan, this.#options.descriptors)
      for (const listenerPlan of plan.listeners.filter((each) => !this.#active.has(keyOf(each)))) {
        const listener = this.#options.create(listenerPlan, settings(listenerPlan))
        const entry = { plan: listenerPlan, listener, bounded: Promise.resolve() }
        added.push(entry)
        this.#coming.add(entry)
      }
      if (!isLate) await this.#open(added.filter((entry) => !isReplacing(entry)))
    } catch (error) {
      discard()
      throw error
    }
    const late = added.filter((entry) => isLate || isReplacing(entry))
    return {
      isOpen: late.length === 0,
      open: () => this.#open(late),
      activate: () => this.#activate(plan, added),
      discard,
    }
  }

  #activeAt(plan: ListenerPlan): Listener | null {
    return [...this.#active.values()].find((each) => each.plan.address === plan.address)?.listener ?? null
  }

  /** Opens listeners. Their receive buffers are bounded in the background. */
  async #open(entries: readonly WorkerListener[]): Promise<void> {
    // `node` does not read from paused connections.
    const isBounded = ({ plan }: WorkerListener): boolean =>
      this.#options.isReceiveBounded && plan.engine === 'uws'
    const bounded = entries.filter(isBounded)
    const ports = bounded.map(({ listener }) => listener.port)
    // The helper process must not keep the sockets of replaced listeners open: connections to them would be reset.
    const others = new Set(ports.length === 0 ? [] : listeningSockets(ports))
    for (const { plan, listener } of entries) await listener.open(this.#activeAt(plan))
    const isLimited = limitReceiveBuffers(ports, others).catch(this.#options.onFault)
    for (const entry of bounded) entry.bounded = isLimited
  }

  /** Adds the new listeners, updates the settings of existing ones and closes removed ones. */
  async #activate(plan: Plan, added: readonly WorkerListener[]): Promise<void> {
    for (const entry of added) this.#coming.delete(entry)
    const settings = settingsWithin(plan, this.#options.descriptors)
    const active = new Map(added.map((entry) => [keyOf(entry.plan), entry]))
    for (const listenerPlan of plan.listeners) {
      const kept = this.#active.get(keyOf(listenerPlan))
      if (kept === undefined) continue
      kept.listener.settings = settings(listenerPlan)
      active.set(keyOf(listenerPlan), { ...kept, plan: listenerPlan })
    }
    const removed = [...this.#active].filter(([key]) => !active.has(key)).map(([, entry]) => entry)
    this.#active = active
    if (removed.length === 0) return
    await Promise.race([Promise.all(removed.map(close)), delay(STOP_MS, undefined, { ref: false })])
  }

  /** Stops accepting connections. Open ones are unaffected. */
  async stopListening(): Promise<void> {
    const entries = [...this.#active.values(), ...this.#coming]
    await Promise.all(entries.map(({ bounded }) => bounded))
    await Promise.all(entries.map(({ listener }) => listener.stopListening()))
  }
}

async function close({ listener, bounded }: WorkerListener): Promise<void> {
  await bounded
  listener.close()
  await listener.stopListening()
}
