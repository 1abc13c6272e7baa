/** What the name of a segment file says. A run is one life of one worker's writer: worker and startMs together. */
export interface SegmentName {
  readonly worker: number
  /** Start of the run, ms since the epoch. */
  readonly startMs: number
  /** Position in the run, from 0. */
  readonly seq: number
}

const SEGMENT_FILE = /^traffic-(\d{1,6})-(\d{1,15})-(\d{1,15})\.ndjson$/

/** The file name of a segment, `traffic-0-1795226400000-000012.ndjson`. */
export function segmentFile(name: SegmentName): string {
  return `traffic-${name.worker}-${name.startMs}-${String(name.seq).padStart(6, '0')}.ndjson`
}

/** What a file name says, or null when the file is not a segment. */
export function parseSegmentFile(file: string): SegmentName | null {
  const match = SEGMENT_FILE.exec(file)
  if (match === null) return null
  return { worker: Number(match[1]), startMs: Number(match[2]), seq: Number(match[3]) }
}
