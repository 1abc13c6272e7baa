import type { StatePlan } from '@sluice/config'
import {
  type Grant,
  type LimitRule,
  MAX_STATE_VALUE_BYTES,
  type StateStore,
  StateUnavailable,
  storedKey,
} from '@sluice/core'
import { type Argument, ValkeyConnection } from './connection.js'
import { ADD_SCRIPT, LIMIT_SCRIPT, type Script } from './scripts.js'

/** What a store needs beside its plan. */
export interface ValkeyOptions {
  readonly plan: StatePlan
  readonly report: (event: string, fields: Readonly<Record<string, unknown>>) => void
}

/** Calls that wait for their answer, and what they hold. */
const MAX_CALLS = 10_000
const MAX_BYTES = 8 * 1024 ** 2
/** What makes a worker ready waits for the first connection no longer. */
const OPENED_WITHIN_MS = 2000
/** A server that has still not answered so long after the deadline gets a new connection, and what it sent is given up. */
const HUNG_MS = 1000
/** Keys that the server looks at in one step, and the most steps of a search. */
const SCAN_COUNT = 1000
const MAX_SCANS = 100_000

interface Waiting {
  readonly startedMono: number
  readonly bytes: number
  readonly reject: (error: StateUnavailable) => void
  isLate: boolean
}

/** How calls ended. */
export interface ValkeyCounts {
  answered: number
  failed: number
  late: number
  /** Not sent: the server is away, or too many wait. */
  refused: number
  /** Of those that were answered, ms. */
  sumMs: number
}

/** The store in a Valkey or Redis server. It has a deadline for each call; while one is overdue no other is sent. */
export class ValkeyStore implements StateStore {
  /** It is connected, or could not be, or not in time: who serves before counts by itself, or refuses. */
  readonly opened: Promise<void>
  readonly counts: ValkeyCounts = { answered: 0, failed: 0, late: 0, refused: 0, sumMs: 0 }
  readonly #options: ValkeyOptions
  readonly #connection: ValkeyConnection
  /** In the order in which they were sent, which is that of their answers. */
  readonly #waiting = new Set<Waiting>()
  #bytes = 0
  #clock: NodeJS.Timeout | null = null
  #reported: string | null = 'nothing yet'

  constructor(options: ValkeyOptions) {
    this.#options = options
    let resolve = (): void => {}
    this.opened = new Promise((done) => {
      resolve = done
    })
    setTimeout(resolve, OPENED_WITHIN_MS).unref()
    const onChange = (): void => {
      resolve()
      this.#reportChange()
    }
    this.#connection = new ValkeyConnection({ plan: options.plan, onChange })
  }

  /** Why it cannot be used; null: it can. */
  get problem(): string | null {
    return this.#connection.problem ?? this.#lateness()
  }

  async get(key: string): Promise<Uint8Array | null> {
    return (await this.#send(['GET', this.#keyOf(key)])) as Buffer | null
  }

  async set(key: string, value: Uint8Array, ttlMs: number, only?: 'absent'): Promise<boolean> {
    if (value.length > MAX_STATE_VALUE_BYTES) throw new RangeError('the value is too large for the store')
    const args = ['SET', this.#keyOf(key), Buffer.from(value), 'PX', wholeMs(ttlMs)]
    return (await this.#send(only === undefined ? args : [...args, 'NX'], value.length)) !== null
  }

  async delete(key: string): Promise<boolean> {
    return (await this.#send(['DEL', this.#keyOf(key)])) === 1
  }

  async add(key: string, amount: number, ttlMs: number): Promise<number> {
    return Number(await this.#run(ADD_SCRIPT, key, [String(amount), wholeMs(ttlMs)]))
  }

  async take(key: string, rule: LimitRule, amount: number): Promise<Grant> {
    const answer = await this.#run(LIMIT_SCRIPT, key, [...ruleArguments(rule), String(amount)])
    const [granted, remaining, retryAfterMs, resetMs] = Array.isArray(answer) ? answer.map(Number) : []
    const grant = { granted, remaining, retryAfterMs, resetMs } as Grant
    if (!Object.values(grant).every(Number.isFinite))
      throw new StateUnavailable('the server answers nonsense')
    return grant
  }

  async giveBack(key: string, rule: LimitRule, amount: number): Promise<void> {
    if (amount > 0) await this.#run(LIMIT_SCRIPT, key, [...ruleArguments(rule), String(-amount)])
  }

  async list(prefix: string, most: number): Promise<string[]> {
    const { length } = this.#options.plan.keyPrefix
    const keys = new Set<string>()
    await this.#scan(prefix, (found) => {
      for (const key of found) if (keys.size < most) keys.add(key.toString().slice(length))
      return keys.size < most
    })
    return [...keys]
  }

  async deleteAll(prefix: string): Promise<number> {
    let deleted = 0
    await this.#scan(prefix, async (found) => {
      if (found.length > 0) deleted += Number(await this.#send(['UNLINK', ...found]))
      return true
    })
    return deleted
  }

  close(): void {
    if (this.#clock !== null) clearTimeout(this.#clock)
    this.#connection.close()
    for (const waiting of this.#waiting) waiting.reject(new StateUnavailable('the store is closed'))
  }

  #keyOf(key: string): string {
    return this.#options.plan.keyPrefix + storedKey(key)
  }

  /** @param take whether to go on. */
  async #scan(prefix: string, take: (keys: readonly Buffer[]) => boolean | Promise<boolean>): Promise<void> {
    const pattern = `${escapeGlob(this.#options.plan.keyPrefix + prefix)}*`
    let cursor = '0'
    for (let i = 0; i < MAX_SCANS; i++) {
      const answer = await this.#send(['SCAN', cursor, 'MATCH', pattern, 'COUNT', String(SCAN_COUNT)])
      const [next, keys] = answer as [Buffer, Buffer[]]
      cursor = String(next)
      if (!(await take(keys)) || cursor === '0') return
    }
  }

  /** The server forgets scripts when it starts, and where a replica takes over. */
  async #run({ sha, text }: Script, key: string, args: readonly string[]): Promise<unknown> {
    const rest = ['1', this.#keyOf(key), ...args]
    try {
      return await this.#send(['EVALSHA', sha, ...rest])
    } catch (error) {
      if (!(error instanceof StateUnavailable) || !error.message.includes('NOSCRIPT')) throw error
      return this.#send(['EVAL', text, ...rest])
    }
  }

  #send(args: readonly Argument[], valueBytes = 0): Promise<unknown> {
    const bytes = valueBytes + 200
    const problem = this.problem ?? this.#fullness(bytes)
    if (problem !== null) {
      this.counts.refused++
      return Promise.reject(new StateUnavailable(`the server ${problem}`))
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { startedMono: performance.now(), bytes, reject, isLate: false }
      this.#waiting.add(waiting)
      this.#bytes += bytes
      this.#clock ??= this.#startClock()
      this.#connection.send(args).then(
        (answer) => {
          this.#settle(waiting, 'answered')
          resolve(answer)
        },
        (error: unknown) => {
          this.#settle(waiting, 'failed')
          // Another one is the primary now, perhaps behind the same name.
          if (messageOf(error).startsWith('READONLY')) this.#connection.drop('is a read-only replica')
          reject(new StateUnavailable(`the server refused: ${messageOf(error)}`))
        },
      )
    })
  }

  #settle(waiting: Waiting, outcome: 'answered' | 'failed'): void {
    this.#waiting.delete(waiting)
    this.#bytes -= waiting.bytes
    if (waiting.isLate) {
      this.#reportChange()
      return
    }
    this.counts[outcome]++
    if (outcome === 'answered') this.counts.sumMs += performance.now() - waiting.startedMono
  }

  #fullness(bytes: number): string | null {
    const isFull = this.#waiting.size >= MAX_CALLS || this.#bytes + bytes > MAX_BYTES
    return isFull ? 'has too many calls to answer' : null
  }

  /** Answers come in order: while the oldest call is late, so would be a new one. */
  #lateness(): string | null {
    const [oldest] = this.#waiting
    return oldest?.isLate === true ? `did not answer within ${this.#options.plan.timeoutMs} ms` : null
  }

  /** One coarse clock for all calls, behind what has arrived while this process was busy. */
  #startClock(): NodeJS.Timeout {
    return setTimeout(() => setImmediate(() => this.#onClock()), this.#options.plan.timeoutMs / 4)
  }

  #onClock(): void {
    const { timeoutMs } = this.#options.plan
    const lateMono = performance.now() - timeoutMs
    for (const waiting of this.#waiting) {
      if (waiting.startedMono > lateMono) break
      if (waiting.isLate) continue
      waiting.isLate = true
      this.counts.late++
      waiting.reject(new StateUnavailable(`the server did not answer within ${timeoutMs} ms`))
    }
    this.#reportChange()
    const [oldest] = this.#waiting
    if (oldest !== undefined && oldest.startedMono < lateMono - HUNG_MS) this.#connection.drop('hangs')
    this.#clock = this.#waiting.size > 0 ? this.#startClock() : null
  }

  #reportChange(): void {
    const { problem } = this
    if ((problem === null) === (this.#reported === null) && this.#reported !== 'nothing yet') return
    this.#reported = problem
    const server = new URL(this.#options.plan.url).host
    if (problem === null) this.#options.report('state_available', { server })
    else this.#options.report('state_unavailable', { server, problem })
  }
}

function ruleArguments({ algorithm, limit, periodMs, burst, anchorMs = 0 }: LimitRule): string[] {
  return [algorithm, String(limit), String(periodMs), String(burst), String(anchorMs)]
}

function wholeMs(ms: number): string {
  return String(Math.max(1, Math.ceil(ms)))
}

/** What the glob patterns of the server take literally. */
function escapeGlob(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&')
}

/** Bounded: it is logged, and comes from outside. */
function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 200)
}
