import type { Entry, FoundEntry } from './entry.js'
import { ShardLock } from './shard-lock.js'

// Control words of a shard.
const LOCK = 0
/** Byte offsets in the ring: where the next record goes, and where the oldest is. */
const HEAD = 1
const TAIL = 2
/** Bytes from the tail to the head. */
const USED = 3
const ENTRIES = 4
const LIVE_BYTES = 5
const EVICTED = 6
const EXPIRED = 7
/** Version of the record written last. */
const VERSION = 8
const CONTROL_BYTES = 64

// Record layout in 4-byte words. The size is a multiple of 8, and its lowest bits hold the state.
const SIZE = 0
const NEXT = 1
const HASH = 2
const RECORD_VERSION = 3
/** Expiry in milliseconds since the epoch, two words; Infinity if it does not expire. */
const EXPIRES = 4
const KEY_BYTES = 6
const TYPE_BYTES = 7
const TAG_BYTES = 8
const VALUE_BYTES = 9
const HEAD_BYTES = 40

const LIVE = 1
/** Set if the record was read since it was written, or since the tail last passed it. */
const READ = 2
const STATE = 7

/** Maximum number of records that one write carries over. After that the oldest are evicted, read or not. */
const MAX_CARRIED = 32
/** A record may use at most this fraction of the ring, so that one write does not sweep a whole shard. */
const LARGEST_PART = 8
/** Ring bytes per bucket. At typical value sizes a chain has a few records. */
const BYTES_PER_BUCKET = 1024

/** Creates the memory of a shard with a ring of this size. */
export function shardMemory(ringBytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(CONTROL_BYTES + bucketsFor(ringBytes) * 4 + ringBytes)
}

function bucketsFor(ringBytes: number): number {
  return 2 ** Math.ceil(Math.log2(ringBytes / BYTES_PER_BUCKET))
}

/**
 * A part of the store with its own lock, entirely in shared memory: a hash table whose chains run through a
 * ring of records. Writes go to the head. Space is freed at the tail: a record that was read since is carried
 * over to the head (CLOCK); any other is evicted. Records are never moved to fill holes, and the memory never
 * grows.
 *
 *     control │ buckets │ … free … ┊tail  record  record  (dead)  record  head┊ … free …
 *                  └──────────────────────► chain ─► next
 */
export class Shard {
  /** Maximum record size in bytes. */
  readonly largestRecord: number
  readonly buckets: number
  readonly #lock: ShardLock
  readonly #control: Int32Array
  readonly #table: Uint32Array
  /** The ring as 4-byte words, and as bytes. */
  readonly #words: Uint32Array
  readonly #bytes: Uint8Array
  readonly #double = new Float64Array(1)
  readonly #halves = new Uint32Array(this.#double.buffer)
  /** Size of the ring in bytes. */
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

  /** Copies an entry into `found`. Returns false if there is none or it has expired. */
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
   * Writes an entry, replacing the one with its key. Returns its version.
   * @param onlyIfAbsent true to return 0 without writing if an unexpired entry exists.
   * @throws RangeError if the record is larger than `largestRecord`.
   */
  write(entry: Entry, nowMs: number, onlyIfAbsent: boolean): number {
    const { key, type, tags, value } = entry
    const size = recordBytes(key.length + type.length + tags.length + value.length)
    if (size > this.largestRecord) throw new RangeError('the record is larger than a shard accepts')
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

  /** Copies an entry out of shared memory; null if there is none. It does not count as a read. */
  copy(key: string, hash: number, nowMs: number): Entry | null {
    this.#lock.take()
    const at = this.#findFresh(key, hash, nowMs)
    const copy = at < 0 ? null : this.#copyOf(at, key)
    this.#lock.giveBack()
    return copy
  }

  /** Returns the keys in a range of buckets. */
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

  /** Removes an entry. Returns false if there was none. */
  remove(key: string, hash: number, nowMs: number): boolean {
    this.#lock.take()
    const at = this.#findFresh(key, hash, nowMs)
    if (at >= 0) this.#unlink(at)
    this.#lock.giveBack()
    return at >= 0
  }

  /**
   * Removes matching entries from a range of buckets and returns their number. A range keeps the lock short.
   * @param tag tag surrounded by spaces; empty for any.
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

  /** Returns the current counts. `evicted` and `expired` count from the start, modulo 2^32. */
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

  /** Returns the offset of a key's record, or -1. An expired record is removed. */
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

  /** Returns a linked record of this size: the existing one if its size matches, otherwise a new one. */
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

  /** Allocates a contiguous record at the head. */
  #allocate(size: number): number {
    const control = this.#control
    let carried = 0
    for (;;) {
      const head = control[HEAD]!
      const free = this.#room - control[USED]!
      const toEnd = this.#room - head
      if (toEnd < size) {
        // A record without state bits fills the end of the ring. The next one starts at the beginning.
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

  /** Frees the record at the tail. Returns true if it had been read and was carried over to the head. */
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

  /** Marks a record as dead. Its bytes are freed when the tail passes. */
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

/** Returns the record size for this many bytes of key, type, tags and value. */
function recordBytes(bytes: number): number {
  return (HEAD_BYTES + bytes + 7) & ~7
}

/** Writes a text and returns the offset of its end. */
function writeText(bytes: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i)
  return at + text.length
}
