import type { RecordWriter } from '../record/record-writer.js'

/**
 * Records on their way from the request path to the log thread, in memory that both share:
 *
 *     ┌─────────┬────────────────────────────────┬─────────┐
 *     │  free   │ tail ─► waiting records ─► head│  free   │
 *     └─────────┴────────────────────────────────┴─────────┘
 *
 * The request path moves the head and the log thread the tail. A record is a u32 with the size of all of it, followed
 * by its words (see `record/template.ts`), in one piece. The size 0 means that the next record is at the beginning.
 *
 * When the ring is empty, the request path may move both to the beginning, so that it uses little memory, which stays in
 * the processor's cache. It then changes the epoch, a bit of the head. The log thread copies it to the tail.
 */
export interface RingMemory {
  /** See `STATE`. */
  readonly state: Int32Array<SharedArrayBuffer>
  /** The system provides memory for the parts that were used. */
  readonly words: Uint32Array<SharedArrayBuffer>
}

/**
 * Numbers in `RingMemory.state`: the positions of head and tail, with the epoch in bit 0; the bytes that the log thread
 * has freed so far (modulo 2^32); 1 while it waits for a message; and the records that it is writing, with tail and freed
 * bytes after them.
 */
const STATE = { head: 0, tail: 1, freed: 2, isAsleep: 3, writing: 4, nextTail: 5, nextFreed: 6 } as const
const EPOCH = 1
const HEAD_BYTES = 4
/** Length up to which a loop copies a record faster than a native copy, in words. */
const SHORT_WORDS = 512
/** Position beyond which an empty ring starts again at its beginning. */
const HOT_BYTES = 256 * 1024

/** Creates a ring for this many waiting bytes. Any record of up to `maxRecordBytes` fits in an empty ring. */
export function newRing(waitingBytes: number, maxRecordBytes: number): RingMemory {
  const bytes = waitingBytes + 2 * (maxRecordBytes + 2 * HEAD_BYTES)
  return {
    state: new Int32Array(new SharedArrayBuffer(4 * Object.keys(STATE).length)),
    words: new Uint32Array(new SharedArrayBuffer(4 * Math.ceil(bytes / 4))),
  }
}

/** The request path's end of a ring. */
export class RingWriter {
  readonly #state: Int32Array
  readonly #words: Uint32Array
  readonly #maxWaiting: number
  #head = 0
  #epoch = 0
  /** Bytes published so far, modulo 2^32. */
  #published = 0
  /** The tail and the freed bytes when they were last read. */
  #tail = 0
  #freed = 0
  /** Freed bytes when a thread ended while it was writing, or null. */
  #endedAt: number | null = null
  /** Published bytes at `mark`, or null once the log thread has written them. */
  #mark: number | null = null

  /** @param maxWaiting Number of waiting bytes from which the ring takes no more records. */
  constructor({ state, words }: RingMemory, maxWaiting: number) {
    this.#state = state
    this.#words = words
    this.#maxWaiting = maxWaiting
  }

  /** True if no more records are taken. */
  get isFull(): boolean {
    if (this.#waiting < this.#maxWaiting) return false
    this.#look()
    return this.#waiting >= this.#maxWaiting
  }

  /** Marks the records so far. It replaces the mark before. */
  mark(): void {
    this.#mark = this.#published
  }

  /** True if the log thread has written all marked records. */
  get isMarkPassed(): boolean {
    this.#look()
    return this.#mark === null
  }

  /** Adds a record. Returns what the caller must do. */
  add({ length, words }: RecordWriter): 'wake the thread' | 'nothing' | 'drop the record' {
    const size = HEAD_BYTES + 4 * length
    if (!this.#hasPlace(size)) return 'drop the record'
    const ring = this.#words
    const at = this.#head >> 2
    ring[at] = size
    if (length > SHORT_WORDS) ring.set(words.subarray(0, length), at + 1)
    else for (let i = 0; i < length; i++) ring[at + 1 + i] = words[i]!
    this.#head += size
    this.#published = (this.#published + size) | 0
    Atomics.store(this.#state, STATE.head, this.#head | this.#epoch)
    if (Atomics.load(this.#state, STATE.isAsleep) === 0) return 'nothing'
    Atomics.store(this.#state, STATE.isAsleep, 0)
    return 'wake the thread'
  }

  /**
   * Call it when the log thread has ended. If it ended while it wrote the same records as the thread before, these are
   * discarded, because the next thread would end with them, too.
   * @returns Number of discarded records.
   */
  threadEnded(): number {
    const state = this.#state
    const records = state[STATE.writing]!
    const freed = state[STATE.freed]!
    const isRepeated = records > 0 && freed === this.#endedAt
    this.#endedAt = records > 0 ? freed : null
    state[STATE.writing] = 0
    if (!isRepeated) return 0
    Atomics.store(state, STATE.freed, state[STATE.nextFreed]!)
    Atomics.store(state, STATE.tail, state[STATE.nextTail]!)
    return records
  }

  get #waiting(): number {
    return (this.#published - this.#freed) | 0
  }

  #look(): void {
    const tail = Atomics.load(this.#state, STATE.tail)
    // In the epoch before, the tail has reached the head.
    this.#tail = (tail & EPOCH) === this.#epoch ? tail & ~EPOCH : 0
    this.#freed = Atomics.load(this.#state, STATE.freed)
    // Here, because the difference would become ambiguous after 2^31 bytes. A ring that is written to is looked at earlier.
    if (this.#mark !== null && ((this.#freed - this.#mark) | 0) >= 0) this.#mark = null
  }

  /** Moves the head to a place with this many free bytes in one piece. Returns false if there is none. */
  #hasPlace(size: number): boolean {
    if (this.#head > HOT_BYTES) {
      this.#look()
      if (this.#head === this.#tail) {
        this.#epoch ^= EPOCH
        this.#head = 0
        this.#tail = 0
      }
    }
    if (this.#hasRoom(size)) return true
    this.#look()
    if (this.#hasRoom(size)) return true
    if (this.#tail > this.#head || size >= this.#tail) return false
    this.#words[this.#head >> 2] = 0
    this.#head = 0
    return true
  }

  /** Returns true if there is room behind the head. A byte stays free, because an empty ring has head and tail at one place. */
  #hasRoom(size: number): boolean {
    const end = this.#head < this.#tail ? this.#tail : 4 * this.#words.length - HEAD_BYTES
    return this.#head + size < end
  }
}

/** The log thread's end of a ring. */
export class RingReader {
  readonly #state: Int32Array
  readonly #words: Uint32Array
  #tail: number
  #epoch: number
  #freed: number

  constructor({ state, words }: RingMemory) {
    this.#state = state
    this.#words = words
    const tail = Atomics.load(state, STATE.tail)
    this.#tail = tail & ~EPOCH
    this.#epoch = tail & EPOCH
    this.#freed = Atomics.load(state, STATE.freed)
  }

  /**
   * Calls `take` with the words of each waiting record until it returns false. The ring keeps the records until
   * `release`.
   * @returns Number of records.
   */
  read(take: (words: Uint32Array, from: number, to: number) => boolean): number {
    const head = this.#look()
    let records = 0
    for (let isMore = true; isMore && this.#tail !== head; ) {
      const at = this.#tail
      const size = this.#words[at >> 2]!
      if (size === 0) {
        this.#tail = 0
        continue
      }
      this.#tail += size
      this.#freed = (this.#freed + size) | 0
      records++
      this.#state[STATE.nextTail] = this.#tail | this.#epoch
      this.#state[STATE.nextFreed] = this.#freed
      this.#state[STATE.writing] = records
      isMore = take(this.#words, (at + HEAD_BYTES) >> 2, (at + size) >> 2)
    }
    return records
  }

  /** Frees the records that were read. */
  release(): void {
    Atomics.store(this.#state, STATE.writing, 0)
    Atomics.store(this.#state, STATE.freed, this.#freed)
    Atomics.store(this.#state, STATE.tail, this.#tail | this.#epoch)
  }

  /** Announces that the log thread waits for a message. Returns false if a record has arrived meanwhile. */
  sleep(): boolean {
    Atomics.store(this.#state, STATE.isAsleep, 1)
    if (this.#look() === this.#tail) return true
    Atomics.store(this.#state, STATE.isAsleep, 0)
    return false
  }

  /** Returns the position of the head. In a new epoch, reading starts at the beginning. */
  #look(): number {
    const head = Atomics.load(this.#state, STATE.head)
    if ((head & EPOCH) !== this.#epoch) {
      this.#epoch ^= EPOCH
      this.#tail = 0
    }
    return head & ~EPOCH
  }
}
