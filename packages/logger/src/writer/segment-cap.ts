import { readdirSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { parseSegmentFile, type SegmentFile, type SegmentName, segmentFile } from './segment-name.js'

/** Heartbeat interval of a writer's open segment, in milliseconds. */
export const TOUCH_EVERY_MS = 30_000
/** Time without a write or heartbeat after which a segment's writer counts as ended, in milliseconds. */
const OPEN_FOR_MS = 4 * TOUCH_EVERY_MS

/** Size limits of a log directory. */
export interface CapOptions {
  readonly dir: string
  /** Maximum size of all segments of all workers together, in bytes. */
  readonly maxBytes: number
  /** Size up to which an open segment may grow, in bytes. */
  readonly segmentBytes: number
}

/**
 * Deletes the oldest closed segments until the rest fits the limit, assuming that every open segment will
 * become full. No further checks are needed until the next segment is opened. A writer calls this after
 * creating each segment file, so the second of two concurrent callers sees the file of the first.
 * @param own The caller's open segment.
 * @throws The file system error if the directory cannot be read or a segment cannot be deleted.
 */
export function enforceCap(options: CapOptions, own: SegmentName, nowMs: number): void {
  const segments = segmentsOf(options.dir).sort(byAge)
  const open = openSegments(segments, own, nowMs)
  let reserved = 0
  for (const segment of segments) reserved += reservedBytes(segment, open, options.segmentBytes)
  for (const segment of segments) {
    if (reserved <= options.maxBytes) return
    if (open.has(segment)) continue
    remove(segment.path)
    reserved -= segment.bytes
  }
}

/**
 * Open segments. `grows` is false for a segment of a worker's earlier run, which most likely will not grow.
 */
type OpenSegments = ReadonlyMap<SegmentFile, { readonly grows: boolean }>

/** Returns the last segment of each run that seems alive, and the caller's segment. */
function openSegments(segments: readonly SegmentFile[], own: SegmentName, nowMs: number): OpenSegments {
  const lastOfRun = new Map<string, SegmentFile>()
  const lastRun = new Map<number, number>()
  for (const segment of segments) {
    const run = `${segment.worker}-${segment.startMs}`
    if (segment.seq >= (lastOfRun.get(run)?.seq ?? 0)) lastOfRun.set(run, segment)
    lastRun.set(segment.worker, Math.max(segment.startMs, lastRun.get(segment.worker) ?? 0))
  }
  const open = new Map<SegmentFile, { grows: boolean }>()
  for (const segment of lastOfRun.values()) {
    const isAlive = nowMs - segment.modifiedMs < OPEN_FOR_MS || segmentFile(segment) === segmentFile(own)
    if (isAlive) open.set(segment, { grows: lastRun.get(segment.worker) === segment.startMs })
  }
  return open
}

function reservedBytes(segment: SegmentFile, open: OpenSegments, segmentBytes: number): number {
  return open.get(segment)?.grows === true ? Math.max(segment.bytes, segmentBytes) : segment.bytes
}

function segmentsOf(dir: string): SegmentFile[] {
  const segments: SegmentFile[] = []
  for (const file of readdirSync(dir)) {
    const name = parseSegmentFile(file)
    if (name === null) continue
    const path = join(dir, file)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat !== undefined) segments.push({ ...name, path, bytes: stat.size, modifiedMs: stat.mtimeMs })
  }
  return segments
}

function byAge(a: SegmentFile, b: SegmentFile): number {
  return a.modifiedMs - b.modifiedMs || a.startMs - b.startMs || a.seq - b.seq
}

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    // Another worker has deleted it.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
