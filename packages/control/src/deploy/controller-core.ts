import { randomUUID } from 'node:crypto'
import { ControlLog } from '../state/control-log.js'
import { keptBundles } from '../state/control-state.js'
import type { ControlStore } from '../store/control-store.js'
import { auditEntry, type NumberedEntry } from '../store/log-entry.js'
import { Bundles } from './bundles.js'
import { ConnectedMembers } from './connected-members.js'
import { Coordinator } from './coordinator.js'
import { FleetReports } from './fleet-reports.js'
import type { Clock } from './member-session.js'

/** Minimum age of a chunk that is deleted, in milliseconds. An upload may take this long. */
const GARBAGE_AGE_MS = 3_600_000
/** Minimum interval between garbage collections, in milliseconds. */
const GARBAGE_MS = 600_000

/** Options of a core. */
export interface CoreOptions {
  readonly store: ControlStore
  readonly clock: Clock
  /** Number of committed deploys per group whose bundles are kept. */
  readonly keepDeploys: number
  /** Called for events that operators should know. */
  readonly onEvent: (level: 'info' | 'warn' | 'error', event: string, fields: Fields) => void
}

type Fields = Readonly<Record<string, unknown>>

/**
 * A controller without its server.
 * ```
 * store ─► log ─► members, coordinator ─► log ─► store
 *      └► fleet (reports of members) ─┘
 * ```
 */
export class ControllerCore {
  /** Id of this process in the log and in reports. */
  readonly id = randomUUID()
  readonly log: ControlLog
  readonly bundles: Bundles
  readonly fleet: FleetReports
  readonly members: ConnectedMembers
  readonly coordinator: Coordinator
  readonly #options: CoreOptions
  #isStoreDown = false
  #collectedMs = Number.NEGATIVE_INFINITY
  #collecting: Promise<unknown> = Promise.resolve()

  constructor(options: CoreOptions) {
    this.#options = options
    const { store, clock, onEvent } = options
    const common = { store, clock, controller: this.id }
    const onStoreProblem = (problem: unknown): void => this.#noteStore(problem)
    const onProblem = (event: string, error: unknown): void => onEvent('warn', event, errorFields(error))
    // The audit trail also goes to the collector of the operational log.
    const onAppended = (entry: NumberedEntry): void => onEvent('info', 'audit', { ...auditEntry(entry) })
    this.log = new ControlLog({ ...common, now: clock.wallMs, onProblem: onStoreProblem, onAppended })
    this.bundles = new Bundles(store)
    const own = () => this.members.reports()
    this.fleet = new FleetReports({ ...common, own, onProblem: onStoreProblem })
    const { log, bundles, fleet } = this
    const onReport: FleetReports['add'] = (report, due) => fleet.add(report, due)
    const onLeave = (group: string, member: string): void => {
      fleet.forget(group, member).catch(onStoreProblem)
    }
    this.members = new ConnectedMembers({ ...common, log, bundles, onReport, onLeave, onProblem })
    const onDecision: ConstructorParameters<typeof Coordinator>[0]['onDecision'] = (result) => {
      const { group, deploy, digest, reasons } = result
      onEvent('info', `deploy.${result.result}`, { group, deploy, digest, reasons })
      this.#collectGarbage()
    }
    this.coordinator = new Coordinator({ ...common, log, fleet, onDecision, onProblem })
  }

  /** Reads the store and reports to it. @throws Error if it is unavailable */
  async start(): Promise<void> {
    await this.fleet.send()
    await this.fleet.read()
    await this.log.start()
  }

  /** Advances what depends on time: heartbeats, deadlines and retries. */
  tick(): void {
    this.fleet.tick().catch((error: unknown) => this.#noteStore(error))
    this.members.reconcile()
    this.coordinator.advance()
  }

  async close(): Promise<void> {
    this.log.close()
    this.fleet.close()
    this.members.close()
    await this.#collecting
  }

  /** Reports each outage of the store once, and its end. */
  #noteStore(problem: unknown): void {
    const isDown = problem !== null
    if (isDown === this.#isStoreDown) return
    this.#isStoreDown = isDown
    if (isDown) this.#options.onEvent('error', 'store.unavailable', errorFields(problem))
    else this.#options.onEvent('info', 'store.available', {})
  }

  #collectGarbage(): void {
    const { store, clock, keepDeploys } = this.#options
    if (clock.steadyMs() - this.#collectedMs < GARBAGE_MS) return
    this.#collectedMs = clock.steadyMs()
    const kept = keptBundles(this.log.state, keepDeploys)
    this.#collecting = store
      .collectGarbage(kept, GARBAGE_AGE_MS)
      .catch((error: unknown) => this.#noteStore(error))
  }
}

/** Returns the fields of an error for the operation log. */
export function errorFields(error: unknown): Fields {
  return error instanceof Error ? { message: error.message, stack: error.stack } : { message: String(error) }
}
