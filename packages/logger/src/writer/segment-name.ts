/**
 * Parts of a segment's file name. A run is one lifetime of a worker's writer, identified by `worker` and
 * `startMs`.
 */
export interface SegmentName {
  readonly worker: number
  /** Start of the run in milliseconds since the epoch. */
  readonly startMs: number
  /** Number of the segment in the run, from 0. */
  readonly seq: number
}

/** Current state of a segment file. */
export interface SegmentFile extends SegmentName {
  readonly path: string
  readonly bytes: number
  readonly modifiedMs: number
}

const SEGMENT_FILE = /^traffic-(\d{1,6})-(\d{1,15})-(\d{1,15})\.ndjson$/

/** Returns the file name of a segment, such as `traffic-0-1795226400000-000012.ndjson`. */
export function segmentFile(name: SegmentName): string {
  return `traffic-${name.worker}-${name.startMs}-${String(name.seq).padStart(6, '0')}.ndjson`
}

/** Parses the file name of a segment. Returns null if the file is not a segment. */
export function parseSegmentFile(file: string): SegmentName | null {
  const match = SEGMENT_FILE.exec(file)
  if (match === null) return null
  return { worker: Number(match[1]), startMs: Number(match[2]), seq: Number(match[3]) }
}
