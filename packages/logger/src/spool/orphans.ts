import { readdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isOwnedByThisProcess, isOwnerAlive, lockPath } from './lock.js'
import { takeLost } from './mark.js'
import { isOwnerName } from './owner-name.js'
import { parseSegmentName, Segment, type SegmentPlace, sealAbandoned } from './segment.js'

/** What was found in directories whose owners are gone. */
export interface Inheritance {
  /** Oldest first. */
  readonly segments: readonly Segment[]
  /** Files with a torn end. */
  readonly torn: number
  /** Records that ended with their process before they were on disk. */
  readonly lost: number
  /** What could not be taken over, or empty. */
  readonly problem: string
}

/** Between the name that a directory was made with and that of its present owner. */
const OWNED_BY = '~'

/** The directory that an owner writes to. */
export function ownDirectory(root: string, owner: string): string {
  return join(root, owner)
}

/**
 * Takes over what owners that are gone have left. A directory is taken by renaming it: of several that try, one
 * succeeds. @throws the file system's error when the root cannot be read.
 */
export function adoptOrphans(root: string, owner: string, nowMs: number): Inheritance {
  const segments: Segment[] = []
  const problems: string[] = []
  let torn = 0
  let lost = 0
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    const [made = '', taken = made] = entry.name.split(OWNED_BY)
    if (!entry.isDirectory() || !isOwnerName(made)) continue
    if (taken === owner || isOwnerAlive(root, taken, nowMs, modifiedMs(lockPath(root, taken)))) continue
    const dir = join(root, `${made}${OWNED_BY}${owner}`)
    try {
      if (!isSpool(join(root, entry.name))) continue
      renameSync(join(root, entry.name), dir)
      const found = segmentsIn(dir, made)
      segments.push(...found.segments)
      torn += found.torn
      // What a thread of this process has lost, its owner has counted.
      const died = takeLost(root, taken)
      if (!isOwnedByThisProcess(root, taken)) lost += died
      rmSync(lockPath(root, taken), { force: true })
      if (found.segments.length === 0) removeEmpty(dir)
    } catch (error) {
      // Another one was faster.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        problems.push(`${entry.name}: ${(error as Error).message}`)
    }
  }
  const problem = problems.length === 0 ? '' : `a spool cannot be taken over: ${problems.join('; ')}`
  return { segments: segments.sort(byAge), torn, lost, problem }
}

/** Removes a spool directory that holds nothing any more. */
export function removeEmpty(dir: string): void {
  try {
    rmdirSync(dir)
  } catch {
    // Something is in it, or it is gone: both are as they should be.
  }
}

/** Dead letters, and whatever else lies in a directory that an operator has chosen, are nobody's spool. */
function isSpool(dir: string): boolean {
  const files = readdirSync(dir)
  return files.length === 0 || files.some((file) => parseSegmentName(file) !== null)
}

function segmentsIn(dir: string, prefix: string): { readonly segments: Segment[]; readonly torn: number } {
  const segments: Segment[] = []
  let torn = 0
  for (const file of readdirSync(dir)) {
    const name = parseSegmentName(file)
    if (name === null) continue
    const place: SegmentPlace = { dir, prefix, first: name.first }
    if (name.records !== null) {
      segments.push(Segment.sealed(place, name.records, statSync(join(dir, file)).size))
      continue
    }
    const sealed = sealAbandoned(place)
    if (sealed !== null) segments.push(sealed.segment)
    if (sealed === null || sealed.isTorn) torn++
  }
  return { segments, torn }
}

function byAge(a: Segment, b: Segment): number {
  return a.place.prefix < b.place.prefix
    ? -1
    : a.place.prefix > b.place.prefix
      ? 1
      : a.place.first - b.place.first
}

function modifiedMs(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null
}
