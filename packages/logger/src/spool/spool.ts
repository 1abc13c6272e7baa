import { type LossReason, makeFolders } from '@sluice/core'
import type { Instant } from '../lib/steady-clock.js'
import type { ReportChange } from '../queue/messages.js'
import type { CountChange } from '../queue/shared-counts.js'
import { adoptDirectories, ownDirectory, removeEmpty } from './adoption.js'
import { maxBlockBytes } from './block.js'
import { OwnerDirectory } from './owner-directory.js'
import { Room, type RoomOptions } from './room.js'
import { Segment, type SegmentLocation } from './segment.js'

/** Options of a spool. The root must exist, and an owner name must be unique. */
export interface SpoolOptions extends RoomOptions {
  /** Returns the number of records encoded by the request path so far. */
  readonly encoded: () => number
  /** True if the owner's directory was created before this thread started. */
  readonly isDirectoryMade: boolean
  /** Age in milliseconds at which an open segment is sealed. */
  readonly sealAfterMs: number
}

/** Size in bytes and number of records at which a segment is sealed. */
const SEGMENT_BYTES = 1024 ** 2
const SEGMENT_RECORDS = 4096
/**
 * Maximum size of segments on disk that are also kept in memory, in bytes. They can be shipped without
 * reading files.
 */
const HOT_BYTES = 8 * 1024 ** 2
/**
 * Difference between wall clock and steady clock from which the wall clock counts as changed, in
 * milliseconds.
 */
const CLOCK_STEP_MS = 5000
/** Maximum size of segments in memory only while writing fails, in bytes. */
const MEMORY_BYTES = 16 * 1024 ** 2

/**
 * Undelivered records, which are written to disk before anything else is done with them:
 *
 *     append ─► open segment ─► sealed segments ─► take ─► (shipped) ─► settle
 *                 (a file)       oldest first                └─ putBack
 *
 * If writing to disk fails, records wait in memory up to a limit: they are less safe, but the log keeps
 * working.
 */
export class Spool {
  readonly #options: SpoolOptions
  readonly #report: ReportChange
  /** Null while the directory cannot be created. */
  #directory: OwnerDirectory | null = null
  /** Number of records appended so far, whatever happened to them. */
  #taken = 0
  readonly #waiting: Segment[] = []
  /** Unsettled segments: open, waiting and taken. */
  readonly #all = new Set<Segment>()
  /** Segments sealed since the last sync. */
  #unsynced: Segment[] = []
  /** Directories taken over. */
  readonly #former = new Set<string>()
  readonly #room: Room
  #open: Segment | null = null
  #openedMono = 0
  #maintained: Instant | null = null
  #next = 0
  /** Size of segments with a file, of those also in memory, and of those in memory only, in bytes. */
  #diskBytes = 0
  #hotBytes = 0
  #memoryBytes = 0
  /** Number of records in memory only. */
  #memoryRecords = 0

  constructor(options: SpoolOptions, report: ReportChange) {
    this.#options = options
    this.#report = report
    this.#room = new Room(options)
    this.#openDirectory()
  }

  /** True if no segment is waiting or open. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#open === null
  }

  /** Steady-clock arrival time of the oldest undelivered record, or null if all are delivered. */
  get oldestMono(): number | null {
    let oldest: number | null = null
    for (const { sinceMono } of this.#all) if (oldest === null || sinceMono < oldest) oldest = sinceMono
    return oldest
  }

  get diskBytes(): number {
    return this.#diskBytes
  }

  /** Appends lines of the request path. Never throws. Records that do not fit are dropped and reported. */
  append(lines: Buffer, records: number): void {
    const taken = { taken: records }
    if (this.#makeRoomFor(lines, records)) this.#store(lines, records, taken)
    else this.#report({ ...taken, dropped: records, reason: 'spool_full', problem: this.#fullText() })
    this.#taken += records
    this.mark()
  }

  /** Appends a record of the log itself. Returns false if it does not fit. */
  appendOwn(json: string): boolean {
    const line = Buffer.from(`${json}\n`, 'latin1')
    if (!this.#makeRoomFor(line, 1)) return false
    this.#store(line, 1, { adopted: 1 })
    this.mark()
    return true
  }

  /** Saves the progress for the next owner. */
  mark(): void {
    const open = this.#open?.isOnDisk === true ? this.#open : null
    try {
      this.#directory?.mark.set({
        encoded: this.#options.encoded(),
        safe: this.#taken - this.#memoryRecords,
        openFirst: open?.location.first ?? this.#next,
        openRecords: open?.records ?? 0,
      })
    } catch (error) {
      this.#report({ problem: `cannot write the spool's mark: ${(error as Error).message}` })
    }
  }

  /** @param account Origin of the records in the counts. */
  #store(lines: Buffer, records: number, account: CountChange): void {
    const segment = this.#appended(lines, records)
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
      this.#report({ problem: `cannot seal a spool file: ${(error as Error).message}` })
    }
    if (segment.isOnDisk && this.#hotBytes > HOT_BYTES) {
      segment.forget()
      this.#hotBytes -= segment.bytes
    }
    this.#waiting.push(segment)
    this.#unsynced.push(segment)
  }

  /** Syncs written segments to disk, so that a power failure loses little. */
  sync(): void {
    const sealed = this.#unsynced
    this.#unsynced = []
    try {
      for (const segment of sealed) segment.sync()
      this.#open?.sync()
    } catch (error) {
      this.#report({ problem: `cannot sync the spool to disk: ${(error as Error).message}` })
    }
  }

  /** Updates the heartbeat and takes over abandoned spools. */
  maintain(now: Instant): void {
    const { root, owner } = this.#options
    const { wallMs: nowMs } = now
    const hasStepped = this.#hasClockStepped(now)
    try {
      if (this.#directory === null) this.#openDirectory()
      else this.#directory.touch(nowMs)
      // The heartbeats of others are from before the clock change. They will be updated by the next check.
      if (hasStepped || this.#directory === null) return
      this.#removeEmptyDirectories()
      const adoption = adoptDirectories(root, owner, nowMs)
      for (const segment of adoption.segments) {
        this.#all.add(segment)
        this.#diskBytes += segment.bytes
      }
      this.#waiting.unshift(...adoption.segments)
      for (const dir of adoption.dirs) this.#former.add(dir)
      for (const change of adoption.changes) this.#report(change)
      // The spool may now exceed the limit of all owners together.
      if (this.#options.whenFull === 'drop-oldest') this.#makeRoom(0)
    } catch (error) {
      this.#report({ problem: `cannot check the spools of other workers: ${(error as Error).message}` })
    }
  }

  /**
   * Removes directories that were taken over and are empty now. They stay until the next check, because the owner may be
   * killed before its counts were reported. The next owner then finds their names.
   */
  #removeEmptyDirectories(): void {
    for (const dir of this.#former) if (removeEmpty(dir)) this.#former.delete(dir)
  }

  #hasClockStepped({ wallMs, mono }: Instant): boolean {
    const before = this.#maintained
    this.#maintained = { wallMs, mono }
    return before !== null && Math.abs(wallMs - before.wallMs - (mono - before.mono)) > CLOCK_STEP_MS
  }

  /**
   * Takes the oldest sealed segment, or null if none is waiting. The caller must settle it or put it back.
   */
  take(): Segment | null {
    return this.#waiting.shift() ?? null
  }

  /** Returns a segment that could not be shipped. */
  putBack(segment: Segment): void {
    this.#waiting.unshift(segment)
  }

  /** Removes a shipped segment and its file. */
  settle(segment: Segment): void {
    this.#all.delete(segment)
    this.#count(segment, -segment.bytes, -segment.records)
    if (!segment.isOnDisk) this.mark()
    try {
      segment.remove()
    } catch (error) {
      this.#report({ problem: `cannot delete a spool file: ${(error as Error).message}` })
    }
  }

  /** Closes the spool. Records on disk are left to the next owner. Records in memory only are lost. */
  close(): void {
    this.sealOpen()
    this.sync()
    let lost = 0
    for (const segment of this.#waiting) if (!segment.isOnDisk) lost += segment.records
    if (lost > 0)
      this.#report({
        inMemory: -lost,
        dropped: lost,
        reason: 'disk_full',
        problem: 'the records could not be written to disk',
      })
    this.#removeEmptyDirectories()
    this.#directory?.release()
  }

  /** Creates the directory. If this fails, for example because the disk is full, records wait in memory. */
  #openDirectory(): void {
    const { root, owner } = this.#options
    try {
      this.#directory = new OwnerDirectory(root, owner, this.#options.isDirectoryMade)
    } catch (error) {
      this.#report({ problem: memoryText(error) })
    }
  }

  /** Appends to the open segment. If writing fails, appends to a new segment in memory. */
  #appended(lines: Buffer, records: number): Segment {
    let segment = this.#openSegment()
    let bytes: number
    try {
      bytes = segment.append(lines, records)
    } catch (error) {
      this.sealOpen()
      segment = this.#openInMemory(this.#nextLocation(), error)
      bytes = segment.append(lines, records)
    }
    this.#all.add(segment)
    this.#count(segment, bytes, records)
    return segment
  }

  #openSegment(): Segment {
    if (this.#open !== null) return this.#open
    const location = this.#nextLocation()
    this.#openedMono = performance.now()
    try {
      if (this.#directory === null) throw new Error('cannot create its directory')
      this.#room.checkDisk()
      makeFolders(location.dir)
      this.#open = Segment.create(location)
      return this.#open
    } catch (error) {
      return this.#openInMemory(location, error)
    }
  }

  /** Opens a segment in memory until it is sealed. The next segment tries the disk again. */
  #openInMemory(location: SegmentLocation, error: unknown): Segment {
    this.#report({ problem: memoryText(error) })
    this.#openedMono = performance.now()
    this.#open = Segment.inMemory(location)
    return this.#open
  }

  /**
   * Returns the location of the next segment. The first numbers are far enough apart that no two records
   * share an ID.
   */
  #nextLocation(): SegmentLocation {
    const { root, owner } = this.#options
    const first = this.#next
    this.#next += 2 * SEGMENT_RECORDS
    return { dir: ownDirectory(root, owner), prefix: owner, first }
  }

  #boundMemory(): void {
    while (this.#memoryBytes > MEMORY_BYTES && this.#dropOldest((one) => !one.isOnDisk, 'disk_full'));
  }

  #makeRoomFor(lines: Buffer, records: number): boolean {
    return this.#makeRoom(maxBlockBytes(lines, records, this.#options.owner))
  }

  /** Makes room by dropping old records if allowed. Returns true if this number of bytes fits. */
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

  /** Adds a change of a segment to the sizes. */
  #count(segment: Segment, bytes: number, records: number): void {
    if (segment.isOnDisk) this.#diskBytes += bytes
    else {
      this.#memoryBytes += bytes
      this.#memoryRecords += records
    }
    if (segment.isOnDisk && segment.isInMemory) this.#hotBytes += bytes
  }

  #fullText(): string {
    return `the spool is full with ${this.#diskBytes} bytes because the target is too slow or unavailable; see the spool of the log's target`
  }
}

/** Returns the problem report for a failed write. */
function memoryText(error: unknown): string {
  return `cannot write to the spool, records wait in memory: ${(error as Error).message}`
}
