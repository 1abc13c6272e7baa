import { type LossReason, makeFolders } from '@sluice/core'
import type { Instant } from '../steady-clock.js'
import { changesOf, type Incoming, memoryText, type ReportChange, recordsOf } from './account.js'
import { adoptDirectories, ownDirectory, removeEmpty } from './adoption.js'
import { Framer } from './frame.js'
import { OwnerDirectory } from './owner-directory.js'
import { Room, type RoomOptions } from './room.js'
import { Segment, type SegmentLocation } from './segment.js'

/** Where and how much a spool keeps. The root exists; the name of an owner is never used twice. */
export interface SpoolOptions extends RoomOptions {
  /** Records that the request path has encoded so far. */
  readonly encoded: () => number
  /** Hears of so many when they are noted on disk. */
  readonly noted?: (encoded: number) => void
  /** True if the owner's directory was made before this thread started. */
  readonly isDirectoryMade: boolean
  /** Age in milliseconds at which an open segment is sealed. */
  readonly sealAfterMs: number
}

/** Size and number of records at which a segment is sealed. */
const SEGMENT_BYTES = 1024 ** 2
const SEGMENT_RECORDS = 4096
/** Segments on disk whose content is kept in memory too, so that shipping them needs no reading. */
const HOT_BYTES = 8 * 1024 ** 2
/** A clock that moves by so much more or less than the steady one was set. */
const CLOCK_STEP_MS = 5000
/** What may wait in memory alone while the disk takes nothing. */
const MEMORY_BYTES = 16 * 1024 ** 2

/**
 * Records that have not been delivered yet, on disk before anything else is done with them:
 *
 *     append ─► open segment ─► sealed segments ─► take ─► (shipped) ─► settle
 *                 (a file)       oldest first                └─ putBack
 *
 * A disk that takes nothing costs the safety, not the log: records wait in memory then, up to a bound.
 */
export class Spool {
  readonly #options: SpoolOptions
  readonly #report: ReportChange
  /** Null while the disk does not even take that. */
  #directory: OwnerDirectory | null = null
  /** Records that were taken in, whatever became of them then. */
  #taken = 0
  readonly #waiting: Segment[] = []
  /** All that are not settled: open, waiting, and taken. */
  readonly #all = new Set<Segment>()
  /** Sealed since the disk was last synchronised. */
  #unsynced: Segment[] = []
  readonly #room: Room
  readonly #framer = new Framer()
  #open: Segment | null = null
  #openedMono = 0
  #looked: Instant | null = null
  #next = 0
  /** Bytes of segments that have a file, of those in memory too, and of those in memory alone. */
  #diskBytes = 0
  #hotBytes = 0
  #memoryBytes = 0
  /** Those of the segments in memory alone. */
  #memoryRecords = 0

  constructor(options: SpoolOptions, report: ReportChange) {
    this.#options = options
    this.#report = report
    this.#room = new Room(options)
    this.#settleIn()
  }

  /** Whether records wait that nobody has taken. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#open === null
  }

  /** When the oldest record came that is not delivered, by the steady clock; null: there is none. */
  get oldestMono(): number | null {
    let oldest: number | null = null
    for (const { sinceMono } of this.#all) if (oldest === null || sinceMono < oldest) oldest = sinceMono
    return oldest
  }

  get diskBytes(): number {
    return this.#diskBytes
  }

  /**
   * Takes lines in. Never throws: what finds no room is dropped and reported.
   * @param batch as it was handed over, which is what the receipt answers; the lines may be longer or shorter by now.
   */
  append(lines: Buffer, batch: { readonly length: number; readonly records: number }): void {
    const { length, records } = batch
    this.#append(lines, { length, records })
    this.#taken += batch.records
    this.mark()
  }

  /** Takes in a record of the log's own. */
  appendOwn(json: string): void {
    this.#append(Buffer.from(`${json}\n`, 'latin1'), { adopted: 1 })
    this.mark()
  }

  /** Notes how many records there have been, for whoever takes over. */
  mark(): void {
    const open = this.#open?.isOnDisk === true ? this.#open : null
    const encoded = this.#options.encoded()
    try {
      this.#directory?.mark.set({
        encoded,
        safe: this.#taken - this.#memoryRecords,
        openFirst: open?.location.first ?? this.#next,
        openRecords: open?.records ?? 0,
      })
      this.#options.noted?.(encoded)
    } catch (error) {
      this.#report({ problem: `the spool's mark cannot be written: ${(error as Error).message}` })
    }
  }

  /** @param account what the records are on the incoming side of it. */
  #append(lines: Buffer, account: Incoming): void {
    const records = recordsOf(account)
    const frames = this.#framer.framesOf(lines, records)
    if (!this.#makeRoom(frames.length)) {
      this.#report({ ...account, dropped: records, reason: 'spool_full', problem: this.#fullText() })
      return
    }
    const segment = this.#appended(frames, records)
    this.#all.add(segment)
    this.#count(segment, frames.length, records)
    this.#report(segment.isOnDisk ? { ...account, onDisk: records } : { ...account, inMemory: records })
    if (segment.bytes >= SEGMENT_BYTES || segment.records >= SEGMENT_RECORDS) this.sealOpen()
    this.#boundMemory()
  }

  /** Seals the open segment if it is older than `sealAfterMs`. */
  sealDue(nowMono: number): void {
    if (this.#open !== null && nowMono - this.#openedMono >= this.#options.sealAfterMs) this.sealOpen()
  }

  /** Seals the open segment. */
  sealOpen(): void {
    const segment = this.#open
    this.#open = null
    if (segment === null) return
    if (segment.records === 0) {
      this.#all.delete(segment)
      segment.remove()
      return
    }
    try {
      segment.seal()
    } catch (error) {
      this.#report({ problem: `a spool file cannot be sealed: ${(error as Error).message}` })
    }
    if (segment.isOnDisk && this.#hotBytes > HOT_BYTES) {
      segment.forget()
      this.#hotBytes -= segment.bytes
    }
    this.#waiting.push(segment)
    this.#unsynced.push(segment)
  }

  /** Brings what was written to the disk, so that a power failure costs little. */
  sync(): void {
    const sealed = this.#unsynced
    this.#unsynced = []
    try {
      for (const segment of sealed) segment.sync()
      this.#open?.sync()
    } catch (error) {
      this.#report({ problem: `the spool cannot be synchronised: ${(error as Error).message}` })
    }
  }

  /** Shows that the owner lives, and takes over what others have left. */
  look(now: Instant): void {
    const { root, owner } = this.#options
    const { wallMs: nowMs } = now
    const hasStepped = this.#hasClockStepped(now)
    try {
      if (this.#directory === null) this.#settleIn()
      else this.#directory.touch(nowMs)
      // The signs of life of the others are by the clock as it was: until the next look they have renewed them.
      if (hasStepped) return
      const adoption = adoptDirectories(root, owner, nowMs)
      for (const segment of adoption.segments) {
        this.#all.add(segment)
        this.#diskBytes += segment.bytes
      }
      this.#waiting.unshift(...adoption.segments)
      for (const change of changesOf(adoption)) this.#report(change)
      // What was taken over may be more than all owners together may keep now.
      if (this.#options.whenFull === 'drop-oldest') this.#makeRoom(0)
    } catch (error) {
      this.#report({ problem: `the spool cannot be looked through: ${(error as Error).message}` })
    }
  }

  #hasClockStepped({ wallMs, mono }: Instant): boolean {
    const before = this.#looked
    this.#looked = { wallMs, mono }
    return before !== null && Math.abs(wallMs - before.wallMs - (mono - before.mono)) > CLOCK_STEP_MS
  }

  /** The oldest sealed segment, which the caller then answers for; null when none waits. */
  take(): Segment | null {
    return this.#waiting.shift() ?? null
  }

  /** Gives back what was taken and could not be shipped. */
  putBack(segment: Segment): void {
    this.#waiting.unshift(segment)
  }

  /** A segment that was taken has been shipped: its file goes. */
  settle(segment: Segment): void {
    this.#all.delete(segment)
    this.#discount(segment)
    try {
      segment.remove()
      if (segment.location.dir !== ownDirectory(this.#options.root, this.#options.owner))
        removeEmpty(segment.location.dir)
    } catch (error) {
      this.#report({ problem: `a spool file cannot be deleted: ${(error as Error).message}` })
    }
  }

  /** Lets go of everything: what is on disk is for the next owner, what is in memory alone is lost. */
  close(): void {
    this.sealOpen()
    this.sync()
    let lost = 0
    for (const segment of this.#waiting) if (!segment.isOnDisk) lost += segment.records
    if (lost > 0)
      this.#report({ inMemory: -lost, dropped: lost, reason: 'disk_full', problem: 'the disk took nothing' })
    this.#directory?.leave()
  }

  /** A disk that is full when the log begins is no reason to do without it: what works without a disk is done. */
  #settleIn(): void {
    const { root, owner } = this.#options
    try {
      this.#directory = new OwnerDirectory(root, owner, this.#options.isDirectoryMade)
    } catch (error) {
      this.#report({ problem: memoryText(error) })
    }
  }

  /** Appends to the open segment; where the disk takes no more of it, to one in memory that comes after it. */
  #appended(frames: Buffer, records: number): Segment {
    let segment = this.#openSegment()
    try {
      segment.append(frames, records)
    } catch (error) {
      this.sealOpen()
      segment = this.#openInMemory(this.#nextLocation(), error)
      segment.append(frames, records)
    }
    return segment
  }

  #openSegment(): Segment {
    if (this.#open !== null) return this.#open
    const location = this.#nextLocation()
    this.#openedMono = performance.now()
    try {
      if (this.#directory === null) throw new Error('its directory cannot be made')
      this.#room.checkDisk()
      makeFolders(location.dir)
      this.#open = Segment.create(location)
      return this.#open
    } catch (error) {
      return this.#openInMemory(location, error)
    }
  }

  /** It takes batches until it is sealed; the disk is asked again with the next one. */
  #openInMemory(location: SegmentLocation, error: unknown): Segment {
    this.#report({ problem: memoryText(error) })
    this.#openedMono = performance.now()
    this.#open = Segment.inMemory(location)
    return this.#open
  }

  /** Positions are far enough apart for a segment's records, so that no two records share an id. */
  #nextLocation(): SegmentLocation {
    const { root, owner } = this.#options
    const first = this.#next
    this.#next += 2 * SEGMENT_RECORDS
    return { dir: ownDirectory(root, owner), prefix: owner, first }
  }

  #boundMemory(): void {
    while (this.#memoryBytes > MEMORY_BYTES && this.#dropOldest((one) => !one.isOnDisk, 'disk_full'));
  }

  /** Whether so many bytes fit below the bound, after what has to give way has done so. */
  #makeRoom(bytes: number): boolean {
    while (!this.#room.has(this.#diskBytes + bytes)) {
      if (this.#options.whenFull === 'drop-newest') return false
      if (!this.#dropOldest((one) => one.isOnDisk, 'spool_full')) return false
    }
    return true
  }

  #dropOldest(isMeant: (segment: Segment) => boolean, reason: LossReason): boolean {
    const at = this.#waiting.findIndex(isMeant)
    if (at === -1) return false
    const segment = this.#waiting.splice(at, 1)[0]!
    const { records } = segment
    const kept = segment.isOnDisk ? { onDisk: -records } : { inMemory: -records }
    this.settle(segment)
    this.#report({ ...kept, dropped: records, reason, problem: this.#fullText() })
    return true
  }

  #count(segment: Segment, bytes: number, records: number): void {
    if (segment.isOnDisk) this.#diskBytes += bytes
    else {
      this.#memoryBytes += bytes
      this.#memoryRecords += records
    }
    if (segment.isOnDisk && segment.isInMemory) this.#hotBytes += bytes
  }

  #discount(segment: Segment): void {
    if (segment.isOnDisk) this.#diskBytes -= segment.bytes
    else {
      this.#memoryBytes -= segment.bytes
      this.#memoryRecords -= segment.records
    }
    if (segment.isOnDisk && segment.isInMemory) this.#hotBytes -= segment.bytes
  }

  #fullText(): string {
    return `the spool holds ${this.#diskBytes} bytes and the target takes too little; see the spool of the log's target`
  }
}
