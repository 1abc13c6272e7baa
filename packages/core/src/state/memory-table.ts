import { type Grant, type LimitRule, MAX_STATE_VALUE_BYTES } from '../contract/state.js'
import { forgettableAt, giveTokensBack, type LimitState, takeTokens } from './limit-state.js'
import { NONE, Slots } from './slots.js'
import { storedKey } from './state-key.js'

/**
 * Serialized limit: its key, its state (see `LimitState`), and its expiry in milliseconds since the epoch.
 */
export type StoredLimit = readonly [key: string, at: number, used: number, before: number, expiry: number]

/** Serialized entry of a table: the fields of a limit or counter, and the value in base64 or null. */
export type StoredEntry = readonly [...StoredLimit, value: string | null]

/** Maximum size of a table. */
export interface TableBounds {
  readonly entries: number
  /** Maximum size of all keys and values in bytes, plus `ENTRY_BYTES` per entry. */
  readonly bytes: number
}

const BOUNDS: TableBounds = { entries: 1_000_000, bytes: 192 * 1024 ** 2 }
/** Overhead of an entry in addition to its key and value. */
const ENTRY_BYTES = 96
/** Number of entries checked for expiry in each call. */
const SWEEP_COUNT = 2

/**
 * Index of a slot's expiry in milliseconds since the epoch. The three numbers before it are the state of its
 * limit or counter.
 */
const EXPIRY = 3

/**
 * Table of values, counters and limits in memory. Every call removes a few expired entries, so no timer is
 * needed. If the table is full, the least recently used entry is removed. The clock is read in every call.
 */
export class MemoryTable {
  /** Number of entries removed before they expired. */
  evictions = 0
  bytes = 0
  /** Incremented whenever a limit is written or removed. */
  revision = 0
  /**
   * Keys of limits that were written or removed. The consumer empties the set. Null if there is no consumer.
   */
  changed: Set<string> | null = null
  readonly #bounds: TableBounds
  readonly #now: () => number
  readonly #slots = new Slots()
  readonly #byKey = new Map<string, number>()
  /** Keys by slot. Undefined if the slot is free. */
  readonly #keys: (string | undefined)[] = []
  readonly #values = new Map<number, Uint8Array>()
  readonly #limit: LimitState = { at: 0, used: 0, before: 0 }
  #swept = 0

  constructor(bounds: TableBounds = BOUNDS, now: () => number = Date.now) {
    this.#bounds = bounds
    this.#now = now
  }

  get entries(): number {
    return this.#byKey.size
  }

  get(key: string): Uint8Array | null {
    const slot = this.#find(storedKey(key), this.#now())
    return slot === NONE ? null : (this.#values.get(slot) ?? null)
  }

  /** Stores a value. @throws RangeError if the value is too large. */
  set(key: string, value: Uint8Array, ttlMs: number, only?: 'absent'): boolean {
    if (value.length > MAX_STATE_VALUE_BYTES)
      throw new RangeError(`the value is larger than ${MAX_STATE_VALUE_BYTES} bytes`)
    const nowMs = this.#now()
    const stored = storedKey(key)
    const known = this.#find(stored, nowMs)
    if (known !== NONE && only === 'absent') return false
    if (known !== NONE) this.#remove(known)
    const slot = this.#add(stored, value.length)
    // Copied, because the given array may be a view of a larger buffer or may change.
    this.#values.set(slot, new Uint8Array(value))
    this.#setExpiry(slot, nowMs + ttlMs)
    return true
  }

  delete(key: string): boolean {
    const slot = this.#find(storedKey(key), this.#now())
    if (slot !== NONE) this.#remove(slot)
    return slot !== NONE
  }

  add(key: string, amount: number, ttlMs: number): number {
    const nowMs = this.#now()
    const stored = storedKey(key)
    let slot = this.#find(stored, nowMs)
    if (slot === NONE) {
      if (amount === 0) return 0
      slot = this.#add(stored, 0)
      this.#slots.numbers[4 * slot] = 0
      this.#setExpiry(slot, nowMs + ttlMs)
    }
    const sum = this.#slots.numbers[4 * slot]! + amount
    this.#slots.numbers[4 * slot] = sum
    return sum
  }

  take(key: string, rule: LimitRule, amount: number): Grant {
    const nowMs = this.#now()
    const stored = storedKey(key)
    const slot = this.#find(stored, nowMs)
    const state = this.#read(slot)
    const grant = takeTokens(state, rule, amount, nowMs)
    // Written even if nothing is granted, because the state may date from before the clock was set back.
    if (slot !== NONE) this.#write(slot, state, rule)
    else if (grant.granted > 0) this.#write(this.#add(stored, 0), state, rule)
    return grant
  }

  giveBack(key: string, rule: LimitRule, amount: number): void {
    const nowMs = this.#now()
    const slot = this.#find(storedKey(key), nowMs)
    if (slot === NONE) return
    const state = this.#read(slot)
    giveTokensBack(state, rule, amount, nowMs)
    this.#write(slot, state, rule)
  }

  list(prefix: string, most: number): string[] {
    const nowMs = this.#now()
    const keys: string[] = []
    for (const [key, slot] of this.#byKey) {
      if (keys.length >= most) break
      if (key.startsWith(prefix) && !this.#isExpired(slot, nowMs)) keys.push(key)
    }
    return keys
  }

  deleteAll(prefix: string): number {
    const nowMs = this.#now()
    let deleted = 0
    for (const [key, slot] of this.#byKey) {
      if (!key.startsWith(prefix)) continue
      if (!this.#isExpired(slot, nowMs)) deleted++
      this.#remove(slot)
    }
    return deleted
  }

  /** Returns the state of all limits for persistence. */
  limits(): StoredLimit[] {
    const nowMs = this.#now()
    const { numbers } = this.#slots
    return [...this.#byKey]
      .filter(([, slot]) => !this.#isExpired(slot, nowMs) && !this.#values.has(slot))
      .map(([key, slot]) => [key, ...numbers.subarray(4 * slot, 4 * slot + 4)] as unknown as StoredLimit)
  }

  /** Returns the stored limit for a key, or null. */
  limit(key: string): StoredLimit | null {
    const slot = this.#byKey.get(key)
    if (slot === undefined || this.#values.has(slot)) return null
    return [key, ...this.#slots.numbers.subarray(4 * slot, 4 * slot + 4)] as unknown as StoredLimit
  }

  /**
   * Restores limits returned by `limits`. Expired ones are skipped. If a limit is known already, the state with more
   * tokens taken is kept.
   */
  restore(limits: readonly StoredLimit[]): void {
    const nowMs = this.#now()
    for (const [key, at, used, before, expiry] of limits) {
      const stored = storedKey(key)
      if (expiry <= nowMs) continue
      const known = this.#find(stored, nowMs)
      const slot = known === NONE ? this.#add(stored, 0) : known
      const state = this.#read(known)
      if (state.at > at || (state.at === at && state.used > used)) continue
      this.#slots.numbers.set([at, used, before, expiry], 4 * slot)
    }
  }

  /** Iterates over all entries for another process, up to `most`. */
  *entriesToCopy(most: number): Generator<StoredEntry> {
    const nowMs = this.#now()
    let count = 0
    for (const [key, slot] of this.#byKey) {
      if (count++ === most) return
      if (this.#isExpired(slot, nowMs)) continue
      const value = this.#values.get(slot)
      const text = value === undefined ? null : Buffer.from(value).toString('base64')
      const state = this.#slots.numbers.subarray(4 * slot, 4 * slot + 4)
      yield [key, ...state, text] as unknown as StoredEntry
    }
  }

  /** Adds an entry of another process. A value that is known already is kept. */
  addCopy([key, at, used, before, expiry, value]: StoredEntry): void {
    const ttlMs = expiry - this.#now()
    if (value === null) this.restore([[key, at, used, before, expiry]])
    else if (ttlMs > 0) this.set(key, Buffer.from(value, 'base64'), ttlMs, 'absent')
  }

  /** Returns the slot of a key and marks it as used, or NONE if the key is absent or expired. */
  #find(key: string, nowMs: number): number {
    this.#sweep(nowMs)
    const slot = this.#byKey.get(key)
    if (slot === undefined) return NONE
    if (this.#isExpired(slot, nowMs)) {
      this.#remove(slot)
      return NONE
    }
    this.#slots.touch(slot)
    return slot
  }

  #add(key: string, valueBytes: number): number {
    const bytes = ENTRY_BYTES + 2 * key.length + valueBytes
    while (this.entries > 0 && this.#isFullFor(bytes)) {
      this.evictions++
      this.#remove(this.#slots.oldest)
    }
    const slot = this.#slots.take()
    this.#byKey.set(key, slot)
    this.#keys[slot] = key
    this.bytes += bytes
    return slot
  }

  #isFullFor(bytes: number): boolean {
    return this.entries >= this.#bounds.entries || this.bytes + bytes > this.#bounds.bytes
  }

  #remove(slot: number): void {
    this.revision++
    const key = this.#keys[slot]!
    this.changed?.add(key)
    this.bytes -= ENTRY_BYTES + 2 * key.length + (this.#values.get(slot)?.length ?? 0)
    this.#byKey.delete(key)
    this.#values.delete(slot)
    this.#keys[slot] = undefined
    this.#slots.free(slot)
  }

  /** Checks the next few slots for expiry, round-robin. */
  #sweep(nowMs: number): void {
    for (let i = 0; i < SWEEP_COUNT && this.#slots.end > 0; i++) {
      const slot = this.#swept
      this.#swept = slot + 1 >= this.#slots.end ? 0 : slot + 1
      if (this.#keys[slot] !== undefined && this.#isExpired(slot, nowMs)) this.#remove(slot)
    }
  }

  #isExpired(slot: number, nowMs: number): boolean {
    return this.#slots.numbers[4 * slot + EXPIRY]! <= nowMs
  }

  #setExpiry(slot: number, atMs: number): void {
    this.#slots.numbers[4 * slot + EXPIRY] = atMs
  }

  #read(slot: number): LimitState {
    const { numbers } = this.#slots
    this.#limit.at = slot === NONE ? 0 : numbers[4 * slot]!
    this.#limit.used = slot === NONE ? 0 : numbers[4 * slot + 1]!
    this.#limit.before = slot === NONE ? 0 : numbers[4 * slot + 2]!
    return this.#limit
  }

  #write(slot: number, state: LimitState, rule: LimitRule): void {
    this.revision++
    this.changed?.add(this.#keys[slot]!)
    const { numbers } = this.#slots
    const { at, used, before } = state
    numbers[4 * slot] = at
    numbers[4 * slot + 1] = used
    numbers[4 * slot + 2] = before
    numbers[4 * slot + EXPIRY] = forgettableAt(state, rule)
  }
}
