import { readdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Takeover } from '@sluice/core'
import { isOwnedByThisProcess, isOwnerAlive, lockPath, ownerOfLock } from './lock.js'
import { type Progress, takeProgress } from './mark.js'
import { isOwnerName, OWNED_BY, ownersOf } from './owner-name.js'
import { parseSegmentName, Segment, type SegmentLocation, sealAbandoned } from './segment.js'

/** What was found in directories whose owners are gone. */
export interface Inheritance {
  /** Oldest first. */
  readonly segments: readonly Segment[]
  /** Records that were on disk and are damaged; of a file about which nothing is known, its torn end counts as one. */
  readonly damaged: number
  /** Records that ended with their process before they were on disk. */
  readonly lost: number
  /** Each directory, also one in which nothing was left. */
  readonly takeovers: readonly Takeover[]
  /** What could not be taken over, or empty. */
  readonly problem: string
}

/** The directory that an owner writes to. */
export function ownDirectory(root: string, owner: string): string {
  return join(root, owner)
}

/**
 * Takes over what owners that are gone have left. A directory is taken by renaming it: of several that try, one
 * succeeds, and only that one has the mark in it, which says what died with the directory's maker. An adopter that ends
 * on its way leaves all that to the next one. @throws the file system's error when the root cannot be read.
 */
export function adoptDirectories(root: string, owner: string, nowMs: number): Inheritance {
  const estates: Estate[] = []
  const problems: string[] = []
  const makers = new Set<string>()
  const entries = readdirSync(root, { withFileTypes: true })
  const isGone = (name: string): boolean =>
    name !== owner && !isOwnerAlive(root, name, nowMs, modifiedMs(lockPath(root, name)))
  for (const entry of entries) {
    const whose = entry.isDirectory() ? ownersOf(entry.name) : null
    if (whose === null) continue
    makers.add(whose.made)
    if (!isGone(whose.taken)) continue
    try {
      estates.push(estateOf(root, entry.name, whose, owner))
    } catch (error) {
      // Another one was faster.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        problems.push(`${entry.name}: ${(error as Error).message}`)
    }
  }
  for (const { name } of entries) {
    const left = ownerOfLock(name)
    if (left === null || !isOwnerName(left) || makers.has(left) || !isGone(left)) continue
    rmSync(lockPath(root, left), { force: true })
  }
  return inheritanceOf(root, estates, problems)
}

/** A directory that was taken over. */
interface Estate {
  readonly dir: string
  readonly made: string
  readonly from: string
  readonly by: string
  /** What died with its maker has been counted already. */
  readonly isCounted: boolean
  readonly found: Found
}

/** @throws the file system's error; ENOENT when another one has taken the directory. */
function estateOf(
  root: string,
  name: string,
  { made, taken }: { readonly made: string; readonly taken: string },
  owner: string,
): Estate {
  // What a thread of this process has lost, its owner has counted. The lock that says so may go once the directory is taken.
  const isCounted = isOwnedByThisProcess(root, made)
  const dir = join(root, `${made}${OWNED_BY}${owner}`)
  renameSync(join(root, name), dir)
  return { dir, made, from: taken, by: owner, isCounted, found: segmentsIn(dir, made) }
}

/** The marks go last, when all is ready to be reported: an adopter that ends before has counted nothing. */
function inheritanceOf(root: string, estates: readonly Estate[], problems: string[]): Inheritance {
  const segments: Segment[] = []
  let lost = 0
  const takeovers: Takeover[] = []
  let damaged = 0
  for (const { made } of estates) rmSync(lockPath(root, made), { force: true })
  for (const { dir, made, from, by, isCounted, found } of estates) {
    const losses = lossesOf(takeProgress(dir), isCounted, found)
    lost += losses.lost
    damaged += losses.damaged
    segments.push(...found.segments)
    takeovers.push({ made, from, by, records: recordsIn(found.segments) + losses.lost + losses.damaged })
    problems.push(...found.problems)
    if (found.segments.length === 0) removeEmpty(dir)
  }
  const problem = problems.length === 0 ? '' : `a spool cannot be taken over: ${problems.join('; ')}`
  return { segments: segments.sort(byAge), damaged, lost, takeovers, problem }
}

function recordsIn(segments: readonly Segment[]): number {
  return segments.reduce((sum, { records }) => sum + records, 0)
}

interface Losses {
  readonly lost: number
  readonly damaged: number
}

/** How many records ended with the one who made a directory, and how many in it are damaged. */
function lossesOf(progress: Progress | null, isCounted: boolean, found: Found): Losses {
  if (progress === null || isCounted) return { lost: 0, damaged: found.torn.length }
  return lossesSince(progress, found)
}

/** A record of a batch that the owner was writing when it ended may be there whole: it is not lost. */
function lossesSince({ encoded, safe, openFirst, openRecords }: Progress, { segments, torn }: Found): Losses {
  let written = 0
  let damaged = 0
  for (const first of new Set([...segments.map(({ location }) => location.first), ...torn])) {
    const records = segments.find(({ location }) => location.first === first)?.records ?? 0
    if (first === openFirst) {
      written += Math.max(0, records - openRecords)
      damaged += Math.max(0, openRecords - records)
    } else if (first > openFirst) written += records
    else if (torn.includes(first)) damaged++
  }
  return { lost: Math.max(0, encoded - safe - written), damaged }
}

/** The bytes of all segments that are not this owner's. */
export function bytesOfOthers(root: string, owner: string): number {
  let bytes = 0
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    const whose = entry.isDirectory() ? ownersOf(entry.name) : null
    if (whose === null || whose.taken === owner) continue
    for (const file of filesIn(join(root, entry.name))) {
      if (parseSegmentName(file) === null) continue
      bytes += statSync(join(root, entry.name, file), { throwIfNoEntry: false })?.size ?? 0
    }
  }
  return bytes
}

function filesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir)
  } catch {
    // It has just been taken over, or emptied.
    return []
  }
}

/** Removes a spool directory that holds nothing any more. */
export function removeEmpty(dir: string): void {
  try {
    rmdirSync(dir)
  } catch {
    // Something is in it, or it is gone: both are as they should be.
  }
}

interface Found {
  readonly segments: Segment[]
  /** The first numbers of files whose end is torn. */
  readonly torn: number[]
  readonly problems: string[]
}

/** A file that cannot be read is left where it is, and hides no other. */
function segmentsIn(dir: string, prefix: string): Found {
  const found: Found = { segments: [], torn: [], problems: [] }
  for (const file of readdirSync(dir)) {
    const name = parseSegmentName(file)
    if (name === null) continue
    try {
      addSegment(found, { dir, prefix, first: name.first }, { file, records: name.records })
    } catch (error) {
      found.problems.push(`${file}: ${(error as Error).message}`)
    }
  }
  return found
}

function addSegment(
  found: Found,
  location: SegmentLocation,
  { file, records }: { readonly file: string; readonly records: number | null },
): void {
  if (records !== null) {
    found.segments.push(Segment.sealed(location, records, statSync(join(location.dir, file))))
    return
  }
  const sealed = sealAbandoned(location)
  if (sealed.segment !== null) found.segments.push(sealed.segment)
  if (sealed.isTorn) found.torn.push(location.first)
}

function byAge(a: Segment, b: Segment): number {
  return a.location.prefix < b.location.prefix
    ? -1
    : a.location.prefix > b.location.prefix
      ? 1
      : a.location.first - b.location.first
}

function modifiedMs(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null
}
