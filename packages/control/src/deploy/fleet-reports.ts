import type { ControlStore, MemberReport, Reports } from '../store/control-store.js'
import { type KnownMember, knownMembers } from './fleet.js'
import type { Clock } from './member-session.js'

/** Interval of heartbeats, in milliseconds. */
const HEARTBEAT_MS = 2000
/** Interval for storing reports in which little has changed, in milliseconds. */
const REFRESH_MS = 15_000

/** Time to store a report. `now`: another controller may wait for it. `soon`: it may compare the figures. */
export type Due = 'now' | 'soon' | 'later'

/** Dependencies of the reports. */
export interface FleetReportsOptions {
  readonly store: ControlStore
  /** Id of this controller. */
  readonly controller: string
  readonly clock: Clock
  /** Returns the reports of the members of this controller. */
  readonly own: () => readonly MemberReport[]
  readonly onProblem: (error: unknown) => void
}

/** Exchanges reports with other controllers through the store. */
export class FleetReports {
  readonly #options: FleetReportsOptions
  readonly #waiting = new Map<string, MemberReport>()
  readonly #refreshedMs = new Map<string, number>()
  readonly #listeners = new Set<() => void>()
  readonly #stopWatching: () => void
  #reports: Reports = { controllers: new Map(), members: [] }
  #sending: Promise<void> | null = null
  #reading: Promise<void> | null = null
  #isReadAgain = false
  #isHealthy = true
  #isScheduled = false
  #isClosed = false
  #sentMs = Number.NEGATIVE_INFINITY

  constructor(options: FleetReportsOptions) {
    this.#options = options
    this.#stopWatching = options.store.watch((change) => {
      if (change === 'reports') void this.read().catch(options.onProblem)
    })
  }

  /** Calls the listener after reports of other controllers were read. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** Members that any controller knows. */
  members(): KnownMember[] {
    return knownMembers(this.#reports, this.#options.own(), this.#options.controller)
  }

  /** Milliseconds since the last report of a controller, or null if it has never reported. */
  controllerAgeMs(controller: string): number | null {
    return this.#reports.controllers.get(controller) ?? null
  }

  /** Notes the report of a member. It is stored at once, with the next heartbeat, or from time to time. */
  add(report: MemberReport, due: Due): void {
    const key = `${report.group}/${report.member}`
    const now = this.#options.clock.steadyMs()
    if (due === 'later' && now - (this.#refreshedMs.get(key) ?? Number.NEGATIVE_INFINITY) < REFRESH_MS) return
    this.#refreshedMs.set(key, now)
    if (!report.isConnected) this.#refreshedMs.delete(key)
    this.#waiting.set(key, report)
    if (due !== 'now' || this.#isScheduled) return
    // Votes of many members arrive together and are stored together.
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      if (!this.#isClosed) void this.send().catch(this.#options.onProblem)
    })
  }

  /** Sends a heartbeat and reads the reports if it is time. @throws Error if the store is unavailable */
  async tick(): Promise<void> {
    if (this.#options.clock.steadyMs() - this.#sentMs < HEARTBEAT_MS) return
    await this.send()
    await this.read()
  }

  /** Stores waiting reports and the heartbeat. @throws Error if the store is unavailable */
  send(): Promise<void> {
    this.#sending ??= this.#sendWaiting().finally(() => {
      this.#sending = null
      if (this.#waiting.size > 0 && this.#isHealthy && !this.#isClosed)
        void this.send().catch(this.#options.onProblem)
    })
    return this.#sending
  }

  /** Reads the reports of all controllers. @throws Error if the store is unavailable */
  read(): Promise<void> {
    if (this.#reading !== null) {
      this.#isReadAgain = true
      return this.#reading
    }
    this.#reading = this.#readAll()
    return this.#reading
  }

  /** Removes a member, unless it has connected again. */
  async forget(group: string, member: string): Promise<void> {
    const key = `${group}/${member}`
    this.#waiting.delete(key)
    this.#refreshedMs.delete(key)
    // A report that is being stored would bring the member back.
    await this.#sending?.catch(() => {})
    if (this.#options.own().some((one) => one.group === group && one.member === member)) return
    await this.#options.store.forgetMember(group, member)
    await this.read()
  }

  close(): void {
    this.#isClosed = true
    this.#stopWatching()
    this.#listeners.clear()
  }

  async #sendWaiting(): Promise<void> {
    const { store, controller, clock } = this.#options
    const reports = new Map(this.#waiting)
    this.#waiting.clear()
    this.#sentMs = clock.steadyMs()
    try {
      await store.report(controller, [...reports.values()])
      this.#isHealthy = true
    } catch (error) {
      this.#isHealthy = false
      for (const [key, report] of reports) if (!this.#waiting.has(key)) this.#waiting.set(key, report)
      throw error
    }
  }

  async #readAll(): Promise<void> {
    try {
      do {
        this.#isReadAgain = false
        this.#reports = await this.#options.store.reports()
      } while (this.#isReadAgain)
    } finally {
      this.#reading = null
    }
    for (const listener of this.#listeners) listener()
  }
}
