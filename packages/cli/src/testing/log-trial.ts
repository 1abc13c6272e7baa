import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { LogCounts, LogIdentity, LossReason } from '@sluice/core'
import { killGroup, type RunningGateway, startGateway, statusOf, until } from '../testing.js'
import { CounterWatch } from './counter-watch.js'
import { KnownLoad } from './known-load.js'
import type { StoredRecords } from './known-records.js'

const CLIENTS = 4
/** Number of responses before, during and after a fault. */
const RESPONSES = 40
const WORKERS = 2
const LOOK_EVERY_MS = 100
/** Pause of each client between requests, in milliseconds. It is short for kills, which lose the newest records. */
const PAUSE_MS = 40
const KILL_PAUSE_MS = 5

/** A log target and its settings in the document. */
export interface TrialTarget {
  readonly log: Readonly<Record<string, unknown>>
  /** Spool folder, or null for files. */
  readonly spool: string | null
  stored(trial: LogTrial): StoredRecords | Promise<StoredRecords>
}

/** A fault of the traffic log and its documented effects. */
export interface LogFault {
  readonly name: string
  /** Starts the fault. Resolves when it is in effect, or over. */
  begin(trial: LogTrial): unknown
  /** Ends the fault. */
  end?(trial: LogTrial): unknown
  /** True if it kills processes. Their records in memory count as lost, and other counts are inexact. */
  readonly kills?: boolean
  /** True if the target may get records twice, because it delivers at least once. */
  readonly mayRepeat?: boolean
  /** Reasons for which records may be dropped. */
  readonly losses?: readonly LossReason[]
}

/** A gateway under load whose requests are known, and whose log is disturbed by faults one after the other. */
export class LogTrial {
  readonly target: TrialTarget
  gateway!: RunningGateway
  watch = new CounterWatch(this)
  /** Number of dead letters that were delivered again. */
  replayed = 0
  readonly #start: () => Promise<RunningGateway>
  readonly #answered: number[] = []
  #sent = 0
  /** Records that supervisors which have ended counted as dropped. */
  #droppedBefore = 0
  /** True while the counts include all requests and stored records. */
  #isExact = true
  #mayRepeat = false
  readonly #reasons = new Set<string>()
  /** Figures of the last look at the target, for the message of a test that fails. */
  #latest: object = {}

  private constructor(target: TrialTarget, start: () => Promise<RunningGateway>) {
    this.target = target
    this.#start = start
  }

  static async start(
    t: TestContext,
    target: TrialTarget,
    options: Parameters<typeof startGateway>[3] = {},
  ): Promise<LogTrial> {
    const trial = new LogTrial(target, () => startGateway(t, documentFor(target.log), [], options))
    trial.gateway = await trial.#start()
    return trial
  }

  /** Admin API of the current supervisor. */
  get admin(): string {
    return [...this.gateway.outputText().matchAll(/^admin API on (\S+)/gm)].at(-1)![1]!
  }

  /** Lets a fault act on a log in use, waits until all is delivered, and compares requests, records and counts. */
  async run(fault: LogFault): Promise<string> {
    const connect = () => net.connect(Number(new URL(this.gateway.url).port), '127.0.0.1')
    const load = new KnownLoad([connect], { clients: CLIENTS, serverOf: () => 'gateway', first: this.#sent })
    load.pauseMs = fault.kills === true ? KILL_PAUSE_MS : PAUSE_MS
    load.begin()
    for (const reason of fault.losses ?? []) this.#reasons.add(reason)
    if (fault.kills === true) this.#reasons.add('process_lost')
    if (fault.mayRepeat === true) this.#mayRepeat = true
    if (fault.kills === true || fault.mayRepeat === true) this.#isExact = false
    try {
      await this.#served(load)
      await fault.begin(this)
      load.pauseMs = PAUSE_MS
      await this.#served(load)
      await fault.end?.(this)
      await this.#served(load)
    } finally {
      await load.stop()
      this.#sent = load.sent
      this.#answered.push(...load.answered.keys())
    }
    await this.#settled()
    return this.#assertAccounts()
  }

  /** Waits until no record is on disk or in memory, and workers have reported the last counts. */
  async #settled(): Promise<void> {
    await this.watch.until(
      async (log) => {
        if (log.onDisk + log.inMemory > 0 || !this.#isSpoolEmpty()) return false
        const stored = await this.target.stored(this)
        const missing = this.#missingIn(stored)
        this.#latest = {
          answered: this.#answered.length,
          missing,
          gaps: stored.gaps,
          reported: stored.reportedLosses,
        }
        const isReported = this.target.spool === null || stored.reportedLosses === this.#droppedBy(log)
        return (
          isReported &&
          missing <= this.#lostBy(log) &&
          (!this.#isExact || mainOf(log).received === this.#answered.length + stored.gaps)
        )
      },
      () => `${this.#context()}\n${this.gateway.logText().slice(-2000)}`,
    )
  }

  /** Describes what `#settled` waits for. */
  #context(): string {
    const { spool } = this
    const files = spool === null ? [] : readdirSync(spool, { recursive: true })
    return JSON.stringify({
      ...this.#latest,
      droppedBefore: this.#droppedBefore,
      isExact: this.#isExact,
      files,
    })
  }

  #droppedBy({ dropped }: LogCounts): number {
    return this.#droppedBefore + dropped
  }

  #lostBy(log: LogCounts): number {
    return this.#droppedBy(log) + log.dead - this.replayed
  }

  /** Number of answered requests without a record. */
  #missingIn({ copies }: StoredRecords): number {
    return this.#answered.filter((id) => !copies.has(id)).length
  }

  /** Waits for responses while reading the counts. */
  async #served(load: KnownLoad<string>): Promise<void> {
    let isServed = false
    const serving = load.served(['gateway'], RESPONSES).finally(() => (isServed = true))
    while (!isServed) {
      await this.watch.look()
      await delay(LOOK_EVERY_MS)
    }
    await serving
  }

  /** Spool folder as the gateway sees it, or null. */
  get spool(): string | null {
    const { spool } = this.target
    return spool === null ? null : this.pathOf(spool)
  }

  /** True if the spool has the folders of running threads only, without records. */
  #isSpoolEmpty(): boolean {
    const root = this.spool
    if (root === null) return true
    const entries = readdirSync(root, { withFileTypes: true })
    const folders = entries.filter((entry) => entry.isDirectory() && entry.name !== 'dead')
    const isEmpty = (name: string) => readdirSync(join(root, name)).every((file) => /^(mark|gap)$/.test(file))
    return folders.length <= WORKERS && folders.every(({ name }) => isEmpty(name))
  }

  /** Returns the path of a file that may be on a disk that only the gateway sees. */
  pathOf(file: string): string {
    return process.platform === 'linux' ? `/proc/${this.gateway.process.pid}/root${file}` : file
  }

  async #assertAccounts(): Promise<string> {
    const log = await this.watch.look()
    const stored = await this.target.stored(this)
    const { copies, gaps, reportedLosses } = stored
    const sent = this.#sent
    const answered = this.#answered.length
    const lost = this.#lostBy(log)
    const missing = this.#missingIn(stored)
    const repeated = [...copies].filter(([, times]) => times > 1)
    const account = JSON.stringify({ sent, answered, missing, lost, reportedLosses, repeated, log })
    assert.ok(missing <= lost, account)
    assert.ok(copies.size + lost <= sent, account)
    assert.ok(this.#mayRepeat || repeated.length === 0, account)
    assert.ok(!this.#isExact || mainOf(log).indexed === copies.size + gaps - this.replayed, account)
    assert.ok(reportedLosses <= this.#droppedBy(log), account)
    for (const reason of Object.keys(log.droppedBy)) assert.ok(this.#reasons.has(reason), account)
    assert.deepEqual([...this.watch.fallen], [])
    return `${sent} sent, ${answered} answered, ${copies.size} stored, ${lost} lost, ${reportedLosses} reported, ${missing} missing`
  }

  async deploy(log: object): Promise<void> {
    const headers = { 'content-type': 'application/yaml' }
    const body = documentFor(log)
    const answer = await fetch(`${this.admin}/v1/config`, { method: 'PUT', headers, body })
    assert.equal(answer.status, 200, await answer.text())
  }

  /** Kills all workers at once and waits for new ones. */
  async killWorkers(): Promise<void> {
    const { workers } = await statusOf(this.admin)
    const pids = new Set(workers.map(({ pid }) => pid))
    for (const pid of pids) process.kill(pid!, 'SIGKILL')
    await until(async () =>
      (await statusOf(this.admin)).workers.every(({ state, pid }) => state === 'ready' && !pids.has(pid)),
    )
  }

  /** Kills the supervisor and waits until another one has replaced the workers. */
  async killSupervisor(): Promise<void> {
    const { gateway } = this
    const countOf = (text: string, part: string) => text.split(part).length - 1
    const left = countOf(gateway.logText(), '"worker.leaves"')
    const before = this.admin
    const { pid } = (await (await fetch(`${before}/v1/status`)).json()) as { pid: number }
    await this.#beginCounts()
    process.kill(pid, 'SIGKILL')
    await until(() => this.admin !== before, gateway.logText)
    await until(() => countOf(gateway.logText(), '"worker.leaves"') === left + WORKERS, gateway.logText)
  }

  /** Ends the gateway and starts it again. */
  async restart(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const { process: first, exited } = this.gateway
    await this.#beginCounts()
    if (signal === 'SIGKILL') killGroup(first)
    else first.kill(signal)
    await exited
    this.gateway = await this.#start()
  }

  /** Keeps the losses so far. The next supervisor counts from 0. */
  async #beginCounts(): Promise<void> {
    this.#droppedBefore += (await this.watch.look()).dropped
    this.#isExact = false
    this.watch = new CounterWatch(this)
  }
}

/** Returns the counts of `log.sink`. */
function mainOf(log: LogIdentity): LogCounts {
  return log.targets?.['main'] ?? log
}

function documentFor(log: object): string {
  return JSON.stringify({
    version: 1,
    listeners: [{ address: '127.0.0.1:0' }],
    admin: { address: '127.0.0.1:0' },
    workers: WORKERS,
    routes: [{ id: 'all', match: { path: '/*' }, respond: { status: 200 } }],
    log,
  })
}
