import { readdirSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { parseSegmentFile, type SegmentName, segmentFile } from '../segment-name.js'

/** How often a writer marks its open segment as alive, ms. */
export const TOUCH_EVERY_MS = 30_000
/** A segment that nobody has written or marked for so long belongs to a writer that is gone, ms. */
const OPEN_FOR_MS = 4 * TOUCH_EVERY_MS

/** The bounds of one directory. */
export interface CapOptions {
  readonly dir: string
  /** Of all segments of all workers together. */
  readonly maxBytes: number
  /** What an open segment may still grow to. */
  readonly segmentBytes: number
}

interface Segment extends SegmentName {
  readonly path: string
  readonly bytes: number
  readonly modifiedMs: number
}

/**
 * Deletes the oldest closed segments until the rest, with room for every open one to fill up, fits the cap. So between
 * two calls nobody has to look: a writer calls it once for each segment it opens, right after creating the file, and
 * whichever of two workers comes second sees the file of the other.
 * @param own the caller's open segment.
 * @throws the file system's error when the directory cannot be read or a segment not be deleted.
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

/** Each open segment, and whether it will still grow: that of a worker's earlier run most likely will not. */
type OpenSegments = ReadonlyMap<Segment, { readonly grows: boolean }>

/** The last segment of each run that shows signs of life, and the caller's. */
function openSegments(segments: readonly Segment[], own: SegmentName, nowMs: number): OpenSegments {
  const lastOfRun = new Map<string, Segment>()
  const lastRun = new Map<number, number>()
  for (const segment of segments) {
    const run = `${segment.worker}-${segment.startMs}`
    if (segment.seq >= (lastOfRun.get(run)?.seq ?? 0)) lastOfRun.set(run, segment)
    lastRun.set(segment.worker, Math.max(segment.startMs, lastRun.get(segment.worker) ?? 0))
  }
  const open = new Map<Segment, { grows: boolean }>()
  for (const segment of lastOfRun.values()) {
    const isAlive = nowMs - segment.modifiedMs < OPEN_FOR_MS || segmentFile(segment) === segmentFile(own)
    if (isAlive) open.set(segment, { grows: lastRun.get(segment.worker) === segment.startMs })
  }
  return open
}

function reservedBytes(segment: Segment, open: OpenSegments, segmentBytes: number): number {
  return open.get(segment)?.grows === true ? Math.max(segment.bytes, segmentBytes) : segment.bytes
}

function segmentsOf(dir: string): Segment[] {
  const segments: Segment[] = []
  for (const file of readdirSync(dir)) {
    const name = parseSegmentFile(file)
    if (name === null) continue
    const path = join(dir, file)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat !== undefined) segments.push({ ...name, path, bytes: stat.size, modifiedMs: stat.mtimeMs })
  }
  return segments
}

function byAge(a: Segment, b: Segment): number {
  return a.modifiedMs - b.modifiedMs || a.startMs - b.startMs || a.seq - b.seq
}

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    // Another worker was faster.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
