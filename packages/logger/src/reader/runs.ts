import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseSegmentFile, type SegmentName } from '../segment-name.js'

/** A segment as it is now. */
export interface Segment extends SegmentName {
  readonly path: string
  readonly bytes: number
  readonly modifiedMs: number
}

/** The segments of one life of one worker's writer. Only the last of them can still grow. */
export interface Run {
  readonly id: string
  readonly startMs: number
  /** In the order they were written; never empty. */
  readonly segments: readonly Segment[]
}

/**
 * The runs of a directory, oldest first. A size is taken after the list of names, so a segment that has a successor in
 * the list has its final size.
 * @param sinceMs segments that were last written before are left out.
 * @throws the file system's error when the directory cannot be read.
 */
export async function listRuns(dir: string, sinceMs: number | null): Promise<Run[]> {
  const byRun = new Map<string, Segment[]>()
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

/** Null for other files, and for a segment that was deleted meanwhile. */
async function segmentAt(dir: string, file: string): Promise<Segment | null> {
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

/** Whether the error says that a file or directory is not there. */
export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}
