import type { Entry, FoundEntry } from './entry.js'
import { ShardLock } from './shard-lock.js'

// The control words of a shard.
const LOCK = 0
/** Where the next record goes, and where the oldest is, in bytes from the beginning of the ring. */
const HEAD = 1
const TAIL = 2
/** Bytes from the tail to the head. */
const USED = 3
const ENTRIES = 4
const LIVE_BYTES = 5
const EVICTED = 6
const EXPIRED = 7
/** Of the record written last. */
const VERSION = 8
const CONTROL_BYTES = 64

// A record, in words of 4 bytes from its beginning: its size, a multiple of 8, with its state in the lowest bits.
const SIZE = 0
const NEXT = 1
const HASH = 2
const RECORD_VERSION = 3
/** Milliseconds since the epoch, in two words; none: the largest number. */
const EXPIRES = 4
const KEY_BYTES = 6
const TYPE_BYTES = 7
const TAG_BYTES = 8
const VALUE_BYTES = 9
const HEAD_BYTES = 40

const LIVE = 1
/** It was read since it was written, or since the ring came by. */
const READ = 2
const STATE = 7

/** Records that one write carries on, at most: after that the oldest go, read or not. */
const MAX_CARRIED = 32
/** A record is at most this part of the ring, so that one write does not sweep a shard. */
const LARGEST_PART = 8
/** There is one bucket for so many bytes: a chain has a few records at the sizes that caches have. */
const BYTES_PER_BUCKET = 1024

/** The size of a shard's memory that holds so many bytes of records. */
export function shardMemory(ringBytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(CONTROL_BYTES + bucketsFor(ringBytes) * 4 + ringBytes)
}

function bucketsFor(ringBytes: number): number {
  return 2 ** Math.ceil(Math.log2(ringBytes / BYTES_PER_BUCKET))
}

/**
 * A part of the store with a lock of its own, all of it in shared memory: a hash table whose chains run through a ring
 * of records. What is written goes to the head; room is made at the tail, where a record that was read since is carried
 * on to the head (CLOCK), and any other is evicted. Nothing is ever moved to fill holes, and the memory never grows.
 *
 *     control │ buckets │ … free … ┊tail  record  record  (dead)  record  head┊ … free …
 *                  └──────────────────────► chain ─► next
 */
export class Shard {
  /** Largest record, in bytes. */
  readonly largestRecord: number
  readonly buckets: number
  readonly #lock: ShardLock
  readonly #control: Int32Array
  readonly #table: Uint32Array
  /** The ring in words of 4 bytes, and in bytes. */
  readonly #words: Uint32Array
  readonly #bytes: Uint8Array
  readonly #double = new Float64Array(1)
  readonly #halves = new Uint32Array(this.#double.buffer)
  /** Bytes of the ring. */
  readonly #room: number

  constructor(memory: SharedArrayBuffer, ringBytes: number) {
    this.buckets = bucketsFor(ringBytes)
    const ringAt = CONTROL_BYTES + this.buckets * 4
    this.#control = new Int32Array(memory, 0, CONTROL_BYTES / 4)
    this.#table = new Uint32Array(memory, CONTROL_BYTES, this.buckets)
    this.#words = new Uint32Array(memory, ringAt, ringBytes / 4)
    this.#bytes = new Uint8Array(memory, ringAt, ringBytes)
    this.#room = ringBytes
    this.#lock = new ShardLock(this.#control, LOCK)
    this.largestRecord = Math.floor(ringBytes / LARGEST_PART)
  }

  /** False: there is none, or it has expired. */
  read(key: string, hash: number, { nowMs, found }: { nowMs: number; found: FoundEntry }): boolean {
    this.#lock.take()
    const at = this.#findFresh(key, hash, nowMs)
    if (at >= 0) {
      const w = at >>> 2
      const words = this.#words
      words[w + SIZE]! |= READ
      const typeAt = at + HEAD_BYTES + words[w + KEY_BYTES]!
      const typeBytes = words[w + TYPE_BYTES]!
      const source = this.#bytes.subarray(typeAt, typeAt + typeBytes + words[w + VALUE_BYTES]!)
      found.take(source, typeBytes, words[w + RECORD_VERSION]!)
    }
    this.#lock.giveBack()
    return at >= 0
  }

  /**
   * Writes an entry in the place of the one with its key; answers its version.
   * @param onlyIfAbsent 0 is the answer when there is one that has not expired.
   * @throws RangeError when the record is larger than `largestRecord`.
   */
  write(entry: Entry, nowMs: number, onlyIfAbsent: boolean): number {
    const { key, type, tags, value } = entry
    const size = recordBytes(key.length + type.length + tags.length + value.length)
    if (size > this.largestRecord) throw new RangeError('a record larger than its shard takes')
    this.#lock.take()
    let version = 0
    const known = this.#findFresh(key, entry.hash, nowMs)
    if (known < 0 || !onlyIfAbsent) {
      version = this.#nextVersion()
      this.#fill(this.#placeFor(known, entry.hash, size), entry, version)
    }
    this.#lock.giveBack()
    return version
  }

  /** All of an entry, copied out of the shared memory; null: there is none. Does not count as reading it. */
  copy(key: string, hash: number, nowMs: number): Entry | null {
    this.#lock.take()
    const at = this.#findFresh(key, hash, nowMs)
    const copy = at < 0 ? null : this.#copyOf(at, key)
    this.#lock.giveBack()
    return copy
  }

  /** The keys in some of the buckets. */
  keys(from: number, to: number): string[] {
    const keys: string[] = []
    this.#lock.take()
    for (const first of this.#table.subarray(from, to)) {
      for (let link = first; link !== 0; link = this.#words[(((link - 1) * 8) >>> 2) + NEXT]!) {
        const at = (link - 1) * 8
        keys.push(this.#textAt(at + HEAD_BYTES, this.#words[(at >>> 2) + KEY_BYTES]!))
      }
    }
    this.#lock.giveBack()
    return keys
  }

  /** False: there was none. */
  remove(key: string, hash: number, nowMs: number): boolean {
    this.#lock.take()
    const at = this.#findFresh(key, hash, nowMs)
    if (at >= 0) this.#unlink(at)
    this.#lock.giveBack()
    return at >= 0
  }

  /**
   * Removes what the test names from some of the buckets, so that the lock is not held for long; answers how many.
   * @param tag with a space on both sides; empty: any.
   */
  purge(from: number, to: number, { prefix, tag }: { prefix: string; tag: string }): number {
    let removed = 0
    this.#lock.take()
    for (let bucket = from; bucket < to; bucket++) {
      let link = this.#table[bucket]!
      while (link !== 0) {
        const at = (link - 1) * 8
        link = this.#words[(at >>> 2) + NEXT]!
        if (!this.#startsWith(at, prefix) || !this.#hasTag(at, tag)) continue
        this.#unlink(at)
        removed++
      }
    }
    this.#lock.giveBack()
    return removed
  }

  /** Numbers of this moment; the last two have been counted since the beginning, modulo 2^32. */
  counts(): { entries: number; bytes: number; evicted: number; expired: number } {
    const [entries, bytes, evicted, expired] = [ENTRIES, LIVE_BYTES, EVICTED, EXPIRED].map(
      (at) => Atomics.load(this.#control, at) >>> 0,
    )
    return { entries: entries!, bytes: bytes!, evicted: evicted!, expired: expired! }
  }

  #nextVersion(): number {
    const version = ((this.#control[VERSION]! + 1) >>> 0) % 2 ** 32
    this.#control[VERSION] = version === 0 ? 1 : version
    return this.#control[VERSION]! >>> 0
  }

  /** Where the record with this key is; -1: there is none. One that has expired is removed. */
  #findFresh(key: string, hash: number, nowMs: number): number {
    const words = this.#words
    let link = this.#table[hash & (this.buckets - 1)]!
    while (link !== 0) {
      const at = (link - 1) * 8
      const w = at >>> 2
      if (words[w + HASH] === hash && words[w + KEY_BYTES] === key.length && this.#startsWith(at, key)) {
        if (this.#expiresAt(w) > nowMs) return at
        this.#unlink(at)
        this.#control[EXPIRED]!++
        return -1
      }
      link = words[w + NEXT]!
    }
    return -1
  }

  #startsWith(at: number, prefix: string): boolean {
    const bytes = this.#bytes
    if (this.#words[(at >>> 2) + KEY_BYTES]! < prefix.length) return false
    const from = at + HEAD_BYTES
    for (let i = 0; i < prefix.length; i++) if (bytes[from + i] !== prefix.charCodeAt(i)) return false
    return true
  }

  #hasTag(at: number, tag: string): boolean {
    if (tag === '') return true
    const w = at >>> 2
    const words = this.#words
    const tagsAt = at + HEAD_BYTES + words[w + KEY_BYTES]! + words[w + TYPE_BYTES]! + words[w + VALUE_BYTES]!
    return this.#textAt(tagsAt, words[w + TAG_BYTES]!).includes(tag)
  }

  #copyOf(at: number, key: string): Entry {
    const w = at >>> 2
    const words = this.#words
    const typeAt = at + HEAD_BYTES + words[w + KEY_BYTES]!
    const valueAt = typeAt + words[w + TYPE_BYTES]!
    const tagsAt = valueAt + words[w + VALUE_BYTES]!
    return {
      key,
      hash: words[w + HASH]!,
      type: this.#textAt(typeAt, words[w + TYPE_BYTES]!),
      tags: this.#textAt(tagsAt, words[w + TAG_BYTES]!),
      value: this.#bytes.slice(valueAt, tagsAt),
      expiresAt: this.#expiresAt(w),
    }
  }

  #textAt(at: number, bytes: number): string {
    return Buffer.from(this.#bytes.slice(at, at + bytes)).toString('latin1')
  }

  #expiresAt(w: number): number {
    this.#halves[0] = this.#words[w + EXPIRES]!
    this.#halves[1] = this.#words[w + EXPIRES + 1]!
    return this.#double[0]!
  }

  /** A record in its chain for an entry of this size: the one that is there, if it fits, else a new one. */
  #placeFor(known: number, hash: number, size: number): number {
    const words = this.#words
    if (known >= 0) {
      if ((words[(known >>> 2) + SIZE]! & ~STATE) >>> 0 === size) return known
      this.#unlink(known)
    }
    const at = this.#allocate(size)
    const w = at >>> 2
    words[w + SIZE] = size | LIVE
    words[w + HASH] = hash
    this.#link(at)
    this.#control[ENTRIES]!++
    this.#control[LIVE_BYTES]! += size
    return at
  }

  #fill(at: number, { key, type, tags, value, expiresAt }: Entry, version: number): void {
    const words = this.#words
    const bytes = this.#bytes
    const w = at >>> 2
    this.#double[0] = expiresAt
    words[w + EXPIRES] = this.#halves[0]!
    words[w + EXPIRES + 1] = this.#halves[1]!
    words[w + RECORD_VERSION] = version
    words[w + KEY_BYTES] = key.length
    words[w + TYPE_BYTES] = type.length
    words[w + TAG_BYTES] = tags.length
    words[w + VALUE_BYTES] = value.length
    let to = writeText(bytes, at + HEAD_BYTES, key)
    to = writeText(bytes, to, type)
    bytes.set(value, to)
    writeText(bytes, to + value.length, tags)
  }

  /** Room for a record at the head, in one piece. */
  #allocate(size: number): number {
    const control = this.#control
    let carried = 0
    for (;;) {
      const head = control[HEAD]!
      const free = this.#room - control[USED]!
      const toEnd = this.#room - head
      if (toEnd < size) {
        // A record without a state fills the end of the ring, which its successor begins again.
        if (free >= toEnd) {
          if (toEnd > 0) this.#words[head >>> 2] = toEnd
          this.#moveHead(toEnd)
          continue
        }
      } else if (free >= size) {
        this.#moveHead(size)
        return head
      }
      if (this.#dropOldest(carried < MAX_CARRIED)) carried++
    }
  }

  #moveHead(size: number): void {
    const control = this.#control
    control[HEAD] = (control[HEAD]! + size) % this.#room
    control[USED]! += size
  }

  /** Takes the record at the tail away; true: it was read since, and has been carried on to the head. */
  #dropOldest(mayCarry: boolean): boolean {
    const control = this.#control
    const at = control[TAIL]!
    const w = at >>> 2
    const state = this.#words[w + SIZE]! & STATE
    const size = (this.#words[w + SIZE]! & ~STATE) >>> 0
    const isCarried = mayCarry && (state & READ) !== 0 && control[HEAD]! + size <= this.#room
    if (isCarried) this.#unchain(at)
    else if ((state & LIVE) !== 0) {
      this.#unlink(at)
      control[EVICTED]!++
    }
    control[TAIL] = (at + size) % this.#room
    control[USED]! -= size
    if (isCarried) this.#carry(at, size)
    return isCarried
  }

  #carry(at: number, size: number): void {
    const head = this.#control[HEAD]!
    this.#bytes.copyWithin(head, at, at + size)
    this.#words[(head >>> 2) + SIZE] = size | LIVE
    this.#moveHead(size)
    this.#link(head)
  }

  #link(at: number): void {
    const w = at >>> 2
    const bucket = this.#words[w + HASH]! & (this.buckets - 1)
    this.#words[w + NEXT] = this.#table[bucket]!
    this.#table[bucket] = at / 8 + 1
  }

  /** The record is dead from now on; its bytes are free when the tail has come by. */
  #unlink(at: number): void {
    const w = at >>> 2
    this.#unchain(at)
    const size = (this.#words[w + SIZE]! & ~STATE) >>> 0
    this.#words[w + SIZE] = size
    this.#control[ENTRIES]!--
    this.#control[LIVE_BYTES]! -= size
  }

  #unchain(at: number): void {
    const words = this.#words
    const w = at >>> 2
    const bucket = words[w + HASH]! & (this.buckets - 1)
    const link = at / 8 + 1
    let one = this.#table[bucket]!
    if (one === link) {
      this.#table[bucket] = words[w + NEXT]!
      return
    }
    for (;;) {
      const before = ((one - 1) * 8) >>> 2
      one = words[before + NEXT]!
      if (one !== link) continue
      words[before + NEXT] = words[w + NEXT]!
      return
    }
  }
}

/** What a record takes of the ring, with so many bytes of key, type, tags and value. */
function recordBytes(bytes: number): number {
  return (HEAD_BYTES + bytes + 7) & ~7
}

/** Answers where the text ends. */
function writeText(bytes: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i)
  return at + text.length
}
