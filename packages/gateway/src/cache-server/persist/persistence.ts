import { setTimeout as sleep } from 'node:timers/promises'
import type { PersistPlan } from '@sluice/config'
import { BEGINNING } from '../../state/valkey/connection.js'
import type { PurgeOrder } from '../cache-store.js'
import { keyHash } from '../key-hash.js'
import type { Spaces } from '../spaces.js'
import type { PersistCall, PersistMemory, PersistOutcome } from './persist-calls.js'
import { PersistCounters, slotOf } from './persist-calls.js'
import { BESIDE_BYTES, readRecord, writeRecord } from './persist-record.js'
import { type Holding, PersistServer } from './persist-server.js'
import { PurgeLog } from './purge-log.js'
import { WriteBehind } from './write-behind.js'

/** What keeps values in Valkey needs. */
export interface PersistOptions {
  readonly plan: PersistPlan
  readonly spaces: Spaces
  readonly memory: PersistMemory
  /** Of the common store. */
  readonly secret: readonly [number, number]
  readonly maxObjectBytes: number
  readonly report: (event: string, fields: Readonly<Record<string, unknown>>) => void
}

type Answer = (outcome: PersistOutcome) => void

/** Values that are asked for in Valkey at a time, and the room for them if all are as long as can be; more are misses. */
const MAX_LOADS = 1000
const MAX_LOAD_BYTES = 128 * 1024 ** 2
/** What is without an end in memory ends in Valkey: 365 days. */
const LONGEST_MS = 365 * 86_400_000
const LOOK_MS = 200
const OWNER_MS = 1000
/** After more was put than could be written, it is not tried again at once. */
const FULL_PAUSE_MS = 10_000
const FAILED_PAUSE_MS = 500
/** Who starts while Valkey does waits for it so long: later nothing of what was kept is used. */
const OPENED_WITHIN_MS = 3000
const SLOW_MS = 10_000
const FLUSH_MS = 5000

/**
 * Keeps the values of a cache server in Valkey, in one thread and over one connection, so that what it sends stays in order.
 *
 * A value that was removed or purged never comes back from there. While Valkey confirms, it forgets what is removed, and
 * remembers what was purged. When it does not, or a connection is lost, nobody knows what of that has come there: then
 * nothing is read from it, and once it is back the values get another generation, which is part of their names. What is in
 * memory is written again then.
 */
export class Persistence {
  /** What was kept can be read, or could not be in time. */
  readonly opened: Promise<void>
  readonly #options: PersistOptions
  readonly #server: PersistServer
  readonly #log = new PurgeLog()
  readonly #counters: PersistCounters
  readonly #writes: Int32Array
  /** The writes of other threads of which this one has heard. */
  readonly #heard: Int32Array
  readonly #loads = new Map<string, Answer[]>()
  readonly #mostLoads: number
  readonly #queue: WriteBehind
  readonly #timer: NodeJS.Timeout
  /** Null: nothing is read or written now. */
  #holding: Holding | null = null
  #number = 0
  /** Nothing has changed since the server started. */
  #isUntouched = true
  #isBeginning = false
  #isTaken = false
  #notBeforeMono = 0
  #ownerCheckedMono = performance.now()
  #onBegun = (): void => {}
  /** Why nothing is kept, as operators know it. */
  #told: string | null = null

  constructor(options: PersistOptions) {
    this.#options = options
    const { plan, memory, maxObjectBytes } = options
    this.#mostLoads = Math.min(MAX_LOADS, Math.floor(MAX_LOAD_BYTES / maxObjectBytes))
    this.#counters = new PersistCounters(memory)
    this.#writes = new Int32Array(memory.writes)
    this.#heard = new Int32Array(this.#writes.length)
    this.#queue = new WriteBehind({
      send: (key, done) => this.#write(key, done),
      onFull: () => this.#lose('more was put than it could take', FULL_PAUSE_MS),
      onFailed: () => this.#lose('does not confirm what was put'),
    })
    this.#server = new PersistServer(plan, (event, { problem, server }) => {
      if (event === 'state_unavailable') this.#lose(String(problem))
      else if (event === 'state_available') options.report('persist_connected', { server })
    })
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref()
    this.opened = this.#untilBegun().then(() => {
      // What is put from now on may be newer than what is there.
      this.#isUntouched = false
    })
    void this.#server.server.opened.then(() => this.#begin())
  }

  /** Hears a thread. */
  hear(call: PersistCall, answer: Answer): void {
    switch (call.kind) {
      case 'changed':
        for (const key of call.keys) this.#onChanged(key)
        break
      case 'load':
        this.#load(call.key, answer)
        break
      case 'remove':
        void this.#remove(call.key).then(answer)
        break
      case 'purge':
        void this.#purge(call.order).then(answer)
        break
      case 'purged':
        this.#queue.release()
    }
    this.#show()
  }

  /** Writes what waits, for a while. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    if (this.#holding !== null)
      await Promise.race([this.#queue.idle(), sleep(FLUSH_MS, undefined, { ref: false })])
    this.#server.server.close()
  }

  /** Longer where Valkey is slow than where it is not there. */
  #untilBegun(): Promise<void> {
    return new Promise((resolve) => {
      let deadline = setTimeout(() => {
        const { problem } = this.#server.server
        if (problem !== null && problem !== BEGINNING) resolve()
        else deadline = setTimeout(resolve, SLOW_MS)
      }, OPENED_WITHIN_MS)
      this.#onBegun = () => {
        clearTimeout(deadline)
        resolve()
      }
    })
  }

  #onChanged(key: string): void {
    this.#heard[this.#slotOf(key)]!++
    this.#queue.add(key)
  }

  #load(key: string, answer: Answer): void {
    const waiting = this.#loads.get(key)
    if (waiting !== undefined) {
      waiting.push(answer)
      return
    }
    const holding = this.#holding
    if (holding === null || this.#loads.size >= this.#mostLoads || this.#isChanging(key)) {
      answer('absent')
      return
    }
    const answers = [answer]
    this.#loads.set(key, answers)
    const settle = (outcome: PersistOutcome): void => {
      if (this.#loads.get(key) === answers) this.#loads.delete(key)
      for (const one of answers.splice(0)) one(outcome)
    }
    const deadline = setTimeout(() => {
      this.#counters.count('late')
      settle('absent')
    }, this.#options.plan.timeoutMs)
    void this.#fetch(key, holding)
      .catch((): PersistOutcome => 'absent')
      .then((outcome) => {
        clearTimeout(deadline)
        settle(outcome)
      })
  }

  /** Brings a value to the memory, unless it was put, removed or purged meanwhile. */
  async #fetch(key: string, holding: Holding): Promise<PersistOutcome> {
    const { spaces, maxObjectBytes } = this.#options
    const slot = this.#slotOf(key)
    const before = this.#heard[slot]
    const maxBytes = maxObjectBytes + key.length + BESIDE_BYTES
    const bytes = await this.#server.read(holding.generation, key, maxBytes)
    const nowMs = Date.now()
    const record = bytes.length === 0 ? null : readRecord(bytes, key, { nowMs, maxBytes: maxObjectBytes })
    const isUsable = record !== null && !this.#isOld(record.entry, record.epoch, record.number, holding)
    this.#counters.count(bytes.length === 0 ? 'absent' : isUsable ? 'found' : 'unusable')
    if (!isUsable || this.#holding !== holding || this.#heard[slot] !== before || this.#isChanging(key))
      return 'absent'
    const { store } = spaces.of(spaceOf(key))
    store.write(record.entry, nowMs, true)
    if (!this.#isChanging(key)) return 'found'
    // It may be older than what was just put or removed.
    store.remove(key, nowMs)
    return 'absent'
  }

  #isOld(
    { key, tags }: { readonly key: string; readonly tags: string },
    epoch: number,
    number: number,
    holding: Holding,
  ): boolean {
    return epoch > holding.epoch || this.#log.has(key, tags, epoch, number)
  }

  /** It waits to be written, or a thread is just changing it. */
  #isChanging(key: string): boolean {
    const slot = this.#slotOf(key)
    return this.#queue.has(key) || Atomics.load(this.#writes, slot) !== this.#heard[slot]
  }

  async #remove(key: string): Promise<PersistOutcome> {
    this.#heard[this.#slotOf(key)]!++
    const holding = this.#holding
    this.#options.spaces.of(spaceOf(key)).store.remove(key, Date.now())
    this.#queue.forget(key)
    if (holding === null) return 'unknown'
    return this.#confirmed(
      this.#server.remove(holding.generation, key).then((wasThere) => {
        this.#counters.count('removed')
        return wasThere ? 'found' : 'absent'
      }),
    )
  }

  /** What is put from now on is not purged: nothing is written until the memory has been looked through. */
  async #purge(order: PurgeOrder): Promise<PersistOutcome> {
    this.#queue.hold()
    const holding = this.#holding
    if (holding === null) return 'unknown'
    const kept = this.#log.add(order, holding.epoch, ++this.#number)
    const remembered = kept === null ? Promise.reject(new Error()) : this.#server.keepPurge(...kept)
    return this.#confirmed(
      remembered.then(
        (): PersistOutcome => 'found',
        async (): Promise<PersistOutcome> => {
          // There is no room for one more, here or there.
          this.#lose('could not remember a purge')
          await this.#server.forgetAll()
          return 'found'
        },
      ),
    )
  }

  /** No longer than a request waits. */
  async #confirmed(outcome: Promise<PersistOutcome>): Promise<PersistOutcome> {
    const known = outcome.catch((error: unknown): PersistOutcome => {
      this.#lose(messageOf(error))
      return 'unknown'
    })
    const late = new AbortController()
    const { timeoutMs } = this.#options.plan
    const deadline = sleep<PersistOutcome>(timeoutMs, 'unknown', { signal: late.signal, ref: false })
    const first = await Promise.race([known, deadline.catch((): PersistOutcome => 'unknown')])
    late.abort()
    return first
  }

  /** What the memory has for a key now, or that it has nothing. */
  #write(key: string, done: (isKept: boolean) => void): number {
    const holding = this.#holding
    const nowMs = Date.now()
    const entry = this.#options.spaces.of(spaceOf(key)).store.copy(key, nowMs)
    if (holding === null) {
      queueMicrotask(() => done(false))
      return 0
    }
    const { generation, epoch } = holding
    const remove = async (): Promise<void> => void (await this.#server.remove(generation, key))
    if (entry === null) {
      this.#settle(remove(), 'forgotten', done)
      return key.length
    }
    const record = writeRecord({ entry, epoch, number: ++this.#number })
    const ttlMs = Math.min(entry.expiresAt - nowMs, LONGEST_MS)
    const written = this.#server.write(generation, key, record, ttlMs).catch(() => {
      // Such as `OOM command not allowed`: what it has is older than what was put.
      this.#counters.count('failed')
      return remove()
    })
    this.#settle(written, 'written', done)
    return record.length
  }

  #settle(sent: Promise<void>, result: 'written' | 'forgotten', done: (isKept: boolean) => void): void {
    sent.then(
      () => {
        this.#counters.count(result)
        done(true)
      },
      () => done(false),
    )
  }

  /** From now on nothing is read or written, until Valkey is there and has forgotten all. */
  #lose(problem: string, pauseMs = 0): void {
    this.#notBeforeMono = Math.max(this.#notBeforeMono, performance.now() + pauseMs)
    this.#tell(problem)
    if (this.#holding === null) return
    this.#holding = null
    this.#queue.stop()
    this.#log.clear()
    this.#show()
  }

  /** Says why nothing is kept, once for each reason. */
  #tell(problem: string): void {
    if (this.#told === problem) return
    this.#told = problem
    this.#options.report('persist_lost', { problem: problem.slice(0, 200) })
  }

  #look(): void {
    this.#show()
    if (this.#isTaken || this.#server.server.problem !== null) return
    const nowMono = performance.now()
    if (this.#holding === null) {
      if (nowMono >= this.#notBeforeMono) void this.#begin()
    } else if (nowMono - this.#ownerCheckedMono > OWNER_MS) {
      this.#ownerCheckedMono = nowMono
      void this.#checkOwner()
    }
  }

  /** Takes over what was kept, if nothing has changed since, or begins anew. */
  async #begin(): Promise<void> {
    if (this.#isBeginning || this.#holding !== null || this.#server.server.problem !== null) return
    this.#isBeginning = true
    try {
      const adopted = this.#isUntouched ? await this.#server.adopt(this.#log) : null
      const isAdopted = adopted !== null && this.#isUntouched
      if (!isAdopted) this.#log.clear()
      const holding = isAdopted ? adopted : await this.#server.renew()
      if (this.#server.server.problem !== null) return
      this.#holding = holding
      this.#onBegun()
      this.#told = null
      this.#queue.start([...this.#options.spaces.stores.values()])
      this.#options.report('persist_ready', { values: isAdopted ? 'found' : 'none' })
    } catch (error) {
      this.#tell(messageOf(error))
      this.#notBeforeMono = performance.now() + FAILED_PAUSE_MS
    } finally {
      this.#isBeginning = false
      this.#show()
    }
  }

  /** Two servers that keep values under one prefix would not know of each other's removals. */
  async #checkOwner(): Promise<void> {
    const isOwner = await this.#server.isOwner().catch((): true => true)
    if (isOwner === true) return
    this.#isTaken = isOwner === false
    this.#lose(isOwner === false ? 'another cache server keeps its values at this prefix' : 'was emptied')
  }

  #slotOf(key: string): number {
    const { secret } = this.#options
    return slotOf(keyHash(key, secret[0], secret[1]))
  }

  #show(): void {
    this.#counters.show(this.#holding !== null, this.#queue.size)
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Names of spaces have no slash. */
function spaceOf(key: string): string {
  return key.slice(0, key.indexOf('/'))
}
