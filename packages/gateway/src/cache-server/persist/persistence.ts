import type { PersistPlan } from '@sluice/config'
import { messageOf } from '@sluice/core'
import { NOT_CONNECTED } from '../../state/valkey/connection.js'
import type { PurgeOrder } from '../store/cache-store.js'
import type { Counters } from '../store/counters.js'
import { keyHash } from '../store/key-hash.js'
import { type PersistCall, type PersistOutcome, slotOf } from '../store/persist-calls.js'
import type { Spaces } from '../store/spaces.js'
import { maxRecordBytes, readRecord, writeRecord } from './persist-record.js'
import { PersistServer, type StoredGeneration } from './persist-server.js'
import { PurgeLog } from './purge-log.js'
import { WriteBehind } from './write-behind.js'

/** Options for `Persistence`. */
export interface PersistOptions {
  readonly plan: PersistPlan
  readonly spaces: Spaces
  /** Numbers of writes and removals, see `writesMemory`. */
  readonly writes: SharedArrayBuffer
  readonly counters: Counters
  /** Hash secret of the common store. */
  readonly secret: readonly [number, number]
  readonly maxObjectBytes: number
  readonly report: (event: string, fields: Readonly<Record<string, unknown>>) => void
}

type Answer = (outcome: PersistOutcome) => void

/**
 * Maximum number of concurrent loads from Valkey, and their memory if all values have the maximum size.
 * Further ones are misses.
 */
const MAX_LOADS = 1000
const MAX_LOAD_BYTES = 128 * 1024 ** 2
/** Maximum lifetime in Valkey in milliseconds, used for values without an expiry: 365 days. */
const LONGEST_MS = 365 * 86_400_000
const POLL_MS = 200
const OWNER_MS = 1000
/** Pause in milliseconds after the write queue overflowed. */
const FULL_PAUSE_MS = 10_000
const FAILED_PAUSE_MS = 500
/**
 * Wait in milliseconds for Valkey at start, in case both start at the same time. Stored values that become
 * readable later are not used.
 */
const OPENED_WITHIN_MS = 3000
const SLOW_MS = 10_000
const FLUSH_MS = 5000

/**
 * Persists the values of a cache server to Valkey, in one thread and over one connection, so that commands
 * stay in order.
 *
 * A removed or purged value never comes back from Valkey. While Valkey confirms commands, it deletes removed values and
 * stores purges. If it does not, or the connection is lost, their state in Valkey is unknown. Nothing is read then. Once
 * Valkey is back, a new generation starts, which is part of the key names, and the values in memory are written again.
 */
export class Persistence {
  /** Resolves when stored values are readable, or the wait for them has timed out. */
  readonly opened: Promise<void>
  readonly #options: PersistOptions
  readonly #server: PersistServer
  readonly #log = new PurgeLog()
  readonly #counters: Counters
  readonly #writes: Int32Array
  /** Number of writes by other threads that this thread has processed, by slot. */
  readonly #heard: Int32Array
  readonly #loads = new Map<string, Promise<PersistOutcome>>()
  readonly #mostLoads: number
  readonly #queue: WriteBehind
  readonly #timer: NodeJS.Timeout
  /** Current generation, or null while nothing is read or written. */
  #current: StoredGeneration | null = null
  #number = 0
  /** True if nothing has changed since the server started. */
  #isUntouched = true
  #isBeginning = false
  #isTaken = false
  #notBeforeMono = 0
  #ownerCheckedMono = performance.now()
  #onBegun = (): void => {}
  /** Last reported reason why persistence is off. */
  #reportedProblem: string | null = null

  constructor(options: PersistOptions) {
    this.#options = options
    const { plan, writes, counters, maxObjectBytes } = options
    this.#mostLoads = Math.min(MAX_LOADS, Math.floor(MAX_LOAD_BYTES / maxObjectBytes))
    this.#counters = counters
    this.#writes = new Int32Array(writes)
    this.#heard = new Int32Array(this.#writes.length)
    this.#queue = new WriteBehind({
      send: (key, done) => this.#write(key, done),
      onFull: () => this.#lose('writes came faster than it could store them', FULL_PAUSE_MS),
      onFailed: () => this.#lose('did not confirm a write'),
    })
    this.#server = new PersistServer(plan, (event, { problem, server }) => {
      if (event === 'state_unavailable') this.#lose(String(problem))
      else if (event === 'state_available') options.report('persist_connected', { server })
    })
    this.#timer = setInterval(() => this.#check(), POLL_MS).unref()
    this.opened = this.#untilBegun().then(() => {
      // Values written from now on may be newer than the stored ones.
      this.#isUntouched = false
    })
    void this.#server.server.opened.then(() => this.#begin())
  }

  handle(call: PersistCall, answer: Answer): void {
    switch (call.kind) {
      case 'changed':
        for (const key of call.keys) this.#onChanged(key)
        break
      case 'load':
        void this.#load(call.key).then(answer)
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

  /** Writes the remaining values, within a time limit. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    if (this.#current !== null) await within(FLUSH_MS, this.#queue.idle(), () => {})
    this.#server.server.close()
  }

  /**
   * Resolves when persistence starts, or on a timeout: longer if Valkey is slow than if it is unavailable.
   */
  #untilBegun(): Promise<void> {
    return new Promise((resolve) => {
      let deadline = setTimeout(() => {
        const { problem } = this.#server.server
        if (problem !== null && problem !== NOT_CONNECTED) resolve()
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

  /** Loads a value from Valkey. Concurrent loads of a key share one. Never rejects. */
  #load(key: string): Promise<PersistOutcome> {
    const running = this.#loads.get(key)
    if (running !== undefined) return running
    const current = this.#current
    if (current === null || this.#loads.size >= this.#mostLoads || this.#isChanging(key))
      return Promise.resolve('absent')
    const fetched = this.#fetch(key, current).catch((): PersistOutcome => 'absent')
    const load = within(this.#options.plan.timeoutMs, fetched, (): PersistOutcome => {
      this.#counters.count('persist_late')
      return 'absent'
    }).finally(() => this.#loads.delete(key))
    this.#loads.set(key, load)
    return load
  }

  /** Loads a value into memory, unless it was written, removed or purged meanwhile. */
  async #fetch(key: string, current: StoredGeneration): Promise<PersistOutcome> {
    const { spaces, maxObjectBytes } = this.#options
    const slot = this.#slotOf(key)
    const before = this.#heard[slot]
    const bytes = await this.#server.read(current.generation, key, maxRecordBytes(key, maxObjectBytes))
    const nowMs = Date.now()
    const record = bytes.length === 0 ? null : readRecord(bytes, key, { nowMs, maxBytes: maxObjectBytes })
    const isUsable = record !== null && !this.#isOld(record.entry, record.epoch, record.number, current)
    this.#counters.count(
      bytes.length === 0 ? 'persist_absent' : isUsable ? 'persist_found' : 'persist_unusable',
    )
    if (!isUsable || this.#current !== current || this.#heard[slot] !== before || this.#isChanging(key))
      return 'absent'
    const { store } = spaces.of(spaceOf(key))
    store.write(record.entry, nowMs, true)
    if (!this.#isChanging(key)) return 'found'
    // The loaded value may be older than what was just written or removed.
    store.remove(key, nowMs)
    return 'absent'
  }

  #isOld(
    { key, tags }: { readonly key: string; readonly tags: string },
    epoch: number,
    number: number,
    current: StoredGeneration,
  ): boolean {
    return epoch > current.epoch || this.#log.has(key, tags, epoch, number)
  }

  /** Returns true if a key waits to be written, or a thread is changing it. */
  #isChanging(key: string): boolean {
    const slot = this.#slotOf(key)
    return this.#queue.has(key) || Atomics.load(this.#writes, slot) !== this.#heard[slot]
  }

  async #remove(key: string): Promise<PersistOutcome> {
    this.#heard[this.#slotOf(key)]!++
    const current = this.#current
    this.#options.spaces.of(spaceOf(key)).store.remove(key, Date.now())
    this.#queue.forget(key)
    if (current === null) return 'unknown'
    return this.#confirmed(
      this.#server.remove(current.generation, key).then((wasThere) => {
        this.#counters.count('persist_removed')
        return wasThere ? 'found' : 'absent'
      }),
    )
  }

  /**
   * Purges values in Valkey. Values written from now on are not part of the purge, so nothing is sent until
   * the memory has been scanned.
   */
  async #purge(order: PurgeOrder): Promise<PersistOutcome> {
    this.#queue.hold()
    const current = this.#current
    if (current === null) return 'unknown'
    const kept = this.#log.add(order, current.epoch, ++this.#number)
    const remembered = kept === null ? Promise.reject(new Error()) : this.#server.keepPurge(...kept)
    return this.#confirmed(
      remembered.then(
        (): PersistOutcome => 'found',
        async (): Promise<PersistOutcome> => {
          // No room for another purge, here or in Valkey.
          this.#lose('could not store a purge')
          await this.#server.forgetAll()
          return 'found'
        },
      ),
    )
  }

  /** Waits for a confirmation, but not longer than a request's timeout. */
  #confirmed(outcome: Promise<PersistOutcome>): Promise<PersistOutcome> {
    const known = outcome.catch((error: unknown): PersistOutcome => {
      this.#lose(messageOf(error))
      return 'unknown'
    })
    return within(this.#options.plan.timeoutMs, known, () => 'unknown')
  }

  /** Sends the key's current value, or its removal if there is none. */
  #write(key: string, done: (isKept: boolean) => void): number {
    const current = this.#current
    const nowMs = Date.now()
    const entry = this.#options.spaces.of(spaceOf(key)).store.copy(key, nowMs)
    if (current === null) {
      queueMicrotask(() => done(false))
      return 0
    }
    const { generation, epoch } = current
    const remove = async (): Promise<void> => void (await this.#server.remove(generation, key))
    if (entry === null) {
      this.#settle(remove(), 'forgotten', done)
      return key.length
    }
    const record = writeRecord({ entry, epoch, number: ++this.#number })
    const ttlMs = Math.min(entry.expiresAt - nowMs, LONGEST_MS)
    const written = this.#server.write(generation, key, record, ttlMs).catch(() => {
      // For example `OOM command not allowed`. The stored value is outdated, so remove it.
      this.#counters.count('persist_failed')
      return remove()
    })
    this.#settle(written, 'written', done)
    return record.length
  }

  #settle(sent: Promise<void>, result: 'written' | 'forgotten', done: (isKept: boolean) => void): void {
    sent.then(
      () => {
        this.#counters.count(`persist_${result}`)
        done(true)
      },
      () => done(false),
    )
  }

  /** Stops reading and writing until Valkey is available and a new generation has started. */
  #lose(problem: string, pauseMs = 0): void {
    this.#notBeforeMono = Math.max(this.#notBeforeMono, performance.now() + pauseMs)
    this.#reportOnce(problem)
    if (this.#current === null) return
    this.#current = null
    this.#queue.stop()
    this.#log.clear()
    this.#show()
  }

  /** Reports why persistence is off, once per reason. */
  #reportOnce(problem: string): void {
    if (this.#reportedProblem === problem) return
    this.#reportedProblem = problem
    this.#options.report('persist_lost', { problem: problem.slice(0, 200) })
  }

  #check(): void {
    this.#show()
    if (this.#isTaken || this.#server.server.problem !== null) return
    const nowMono = performance.now()
    if (this.#current === null) {
      if (nowMono >= this.#notBeforeMono) void this.#begin()
    } else if (nowMono - this.#ownerCheckedMono > OWNER_MS) {
      this.#ownerCheckedMono = nowMono
      void this.#checkOwner()
    }
  }

  /**
   * Takes over the stored values if nothing has changed since the start; otherwise starts a new generation.
   */
  async #begin(): Promise<void> {
    if (this.#isBeginning || this.#current !== null || this.#server.server.problem !== null) return
    this.#isBeginning = true
    try {
      const adopted = this.#isUntouched ? await this.#server.adopt(this.#log) : null
      const isAdopted = adopted !== null && this.#isUntouched
      if (!isAdopted) this.#log.clear()
      const current = isAdopted ? adopted : await this.#server.renew()
      if (this.#server.server.problem !== null) return
      this.#current = current
      this.#onBegun()
      this.#reportedProblem = null
      this.#queue.start([...this.#options.spaces.stores.values()])
      this.#options.report('persist_ready', { values: isAdopted ? 'found' : 'none' })
    } catch (error) {
      this.#reportOnce(messageOf(error))
      this.#notBeforeMono = performance.now() + FAILED_PAUSE_MS
    } finally {
      this.#isBeginning = false
      this.#show()
    }
  }

  /** Checks that no other server uses the same prefix: they would not see each other's removals. */
  async #checkOwner(): Promise<void> {
    const isOwner = await this.#server.isOwner().catch((): true => true)
    if (isOwner === true) return
    this.#isTaken = isOwner === false
    this.#lose(isOwner === false ? 'another cache server uses this key prefix' : 'was emptied')
  }

  #slotOf(key: string): number {
    const { secret } = this.#options
    return slotOf(keyHash(key, secret[0], secret[1]))
  }

  #show(): void {
    this.#counters.show('persist_up', this.#current === null ? 0 : 1)
    this.#counters.show('persist_waiting', this.#queue.size)
  }
}

/** Resolves like the promise, or with a substitute if that takes too long. */
function within<T>(ms: number, promise: Promise<T>, onLate: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const deadline = setTimeout(() => resolve(onLate()), ms)
    promise.finally(() => clearTimeout(deadline)).then(resolve, reject)
  })
}

/** Returns the space of a key. Names of spaces contain no slash. */
function spaceOf(key: string): string {
  return key.slice(0, key.indexOf('/'))
}
