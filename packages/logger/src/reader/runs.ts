import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseSegmentFile, type SegmentFile } from '../writer/segment-name.js'

/** Segments written during one lifetime of a worker's writer. Only the last one can still grow. */
export interface Run {
  readonly id: string
  readonly startMs: number
  /** Segments in the order in which they were written; never empty. */
  readonly segments: readonly SegmentFile[]
}

/**
 * Lists the runs in a directory, oldest first. File sizes are read after the names, so a segment with a
 * listed successor has its final size.
 * @param sinceMs Skips segments last written before this time, in milliseconds since the epoch.
 * @throws The file system error if the directory cannot be read.
 */
export async function listRuns(dir: string, sinceMs: number | null): Promise<Run[]> {
  const byRun = new Map<string, SegmentFile[]>()
  for (const file of await readdir(dir)) {
    const segment = await segmentAt(dir, file)
    if (segment === null || (sinceMs !== null && segment.modifiedMs < sinceMs)) continue
    const id = `${segment.worker}-${segment.startMs}`
    const segments = byRun.get(id)
    if (segments === undefined) byRun.set(id, [segment])
    else segments.push(segment)
  }
  const runs: Run[] = []
  for (const [id, segments] of byRun) {
    segments.sort((a, b) => a.seq - b.seq)
    runs.push({ id, startMs: segments[0]!.startMs, segments })
  }
  return runs.sort((a, b) => a.startMs - b.startMs)
}

/** Returns a segment, or null for other files and for a segment deleted in the meantime. */
async function segmentAt(dir: string, file: string): Promise<SegmentFile | null> {
  const name = parseSegmentFile(file)
  if (name === null) return null
  const path = join(dir, file)
  try {
    const { size, mtimeMs } = await stat(path)
    return { ...name, path, bytes: size, modifiedMs: mtimeMs }
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Returns true if an error means that a file or directory does not exist. */
export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}

const NOTHING = Buffer.alloc(0)

/**
 * Reads up to `length` bytes of a file from `offset`. Returns fewer at its end, and none if it was deleted.
 */
export async function bytesAt(path: string, offset: number, length: number): Promise<Buffer> {
  try {
    const file = await open(path, 'r')
    try {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, offset)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (error) {
    if (isMissing(error)) return NOTHING
    throw error
  }
}
