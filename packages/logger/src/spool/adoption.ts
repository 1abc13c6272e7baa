import { readdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Takeover } from '@sluice/core'
import type { LogChange } from '../queue/messages.js'
import { isOwnedByThisProcess, isOwnerAlive, lockPath, ownerOfLock } from './lock.js'
import { type Progress, takeProgress } from './mark.js'
import { isOwnerName, OWNED_BY, ownersOf } from './owner-name.js'
import { parseSegmentName, Segment, type SegmentLocation, sealAbandoned } from './segment.js'

/** Result of taking over the directories of owners that have ended. */
export interface AdoptionResult {
  /** Segments, oldest first. */
  readonly segments: readonly Segment[]
  /** Number of damaged records on disk. The torn end of a file counts as at least one. */
  readonly damaged: number
  /** Number of records that were lost with their process before they were on disk. */
  readonly lost: number
  /** Directories taken over, including empty ones. */
  readonly takeovers: readonly Takeover[]
  /** Problem that prevented a takeover, or empty. */
  readonly problem: string
}

/** Returns the directory that an owner writes to. */
export function ownDirectory(root: string, owner: string): string {
  return join(root, owner)
}

/**
 * Takes over the directories of owners that have ended. A directory is claimed by renaming it, so only one of
 * several adopters succeeds. Only that one reads the mark in it, which tells how many records were lost with
 * the creator. If an adopter ends in between, the next one takes over. @throws The file system error if the
 * root cannot be read.
 */
export function adoptDirectories(root: string, owner: string, nowMs: number): AdoptionResult {
  const adopted: AdoptedDirectory[] = []
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
      adopted.push(adoptDirectory(root, entry.name, whose, owner))
    } catch (error) {
      // Another adopter was faster.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        problems.push(`${entry.name}: ${(error as Error).message}`)
    }
  }
  for (const { name } of entries) {
    const left = ownerOfLock(name)
    if (left === null || !isOwnerName(left) || makers.has(left) || !isGone(left)) continue
    rmSync(lockPath(root, left), { force: true })
  }
  return adoptionResult(root, adopted, problems)
}

/** A directory that was taken over. */
interface AdoptedDirectory {
  readonly dir: string
  readonly made: string
  readonly from: string
  readonly by: string
  /** True if the losses of its creator were already counted. */
  readonly isCounted: boolean
  readonly found: Found
}

/** Claims a directory. @throws The file system error; ENOENT if another adopter has claimed it. */
function adoptDirectory(
  root: string,
  name: string,
  { made, taken }: { readonly made: string; readonly taken: string },
  owner: string,
): AdoptedDirectory {
  // The sink counts the losses of its own threads. This is checked first, because the lock may be deleted
  // once the directory is claimed.
  const isCounted = isOwnedByThisProcess(root, made)
  const dir = join(root, `${made}${OWNED_BY}${owner}`)
  renameSync(join(root, name), dir)
  return { dir, made, from: taken, by: owner, isCounted, found: segmentsIn(dir, made) }
}

/**
 * Reads the marks last, when everything else is ready to be reported. If an adopter ends before, nothing has
 * been counted.
 */
function adoptionResult(
  root: string,
  adopted: readonly AdoptedDirectory[],
  problems: string[],
): AdoptionResult {
  const segments: Segment[] = []
  let lost = 0
  const takeovers: Takeover[] = []
  let damaged = 0
  for (const { made } of adopted) rmSync(lockPath(root, made), { force: true })
  for (const { dir, made, from, by, isCounted, found } of adopted) {
    const losses = lossesOf(takeProgress(dir, made), isCounted, found)
    lost += losses.lost
    damaged += losses.damaged
    segments.push(...found.segments)
    takeovers.push({ made, from, by, records: recordsIn(found.segments) + losses.lost + losses.damaged })
    problems.push(...found.problems)
    if (found.segments.length === 0) removeEmpty(dir)
  }
  const problem = problems.length === 0 ? '' : `cannot take over a spool: ${problems.join('; ')}`
  return { segments: segments.sort(byAge), damaged, lost, takeovers, problem }
}

function recordsIn(segments: readonly Segment[]): number {
  return segments.reduce((sum, { records }) => sum + records, 0)
}

interface Losses {
  readonly lost: number
  readonly damaged: number
}

/** Returns the number of records lost with the creator of a directory, and of damaged records in it. */
function lossesOf(progress: Progress | null, isCounted: boolean, found: Found): Losses {
  if (progress === null || isCounted)
    return { lost: 0, damaged: [...found.torn.values()].reduce((sum, records) => sum + records, 0) }
  return lossesSince(progress, found)
}

/**
 * Computes losses from the creator's progress. Records of the batch that was being written may be complete
 * and are then not lost.
 */
function lossesSince({ encoded, safe, openFirst, openRecords }: Progress, { segments, torn }: Found): Losses {
  let written = 0
  let damaged = 0
  for (const first of new Set([...segments.map(({ location }) => location.first), ...torn.keys()])) {
    const records = segments.find(({ location }) => location.first === first)?.records ?? 0
    if (first === openFirst) {
      written += Math.max(0, records - openRecords)
      damaged += Math.max(0, openRecords - records)
    } else if (first > openFirst) written += records
    else damaged += torn.get(first) ?? 0
  }
  return { lost: Math.max(0, encoded - safe - written), damaged }
}

/**
 * Returns the changes of the counts after taking over the spools of others. Empty if nothing was taken over.
 */
export function changesOf(result: AdoptionResult): LogChange[] {
  const { damaged, lost, takeovers, problem } = result
  const changes: LogChange[] = []
  if (takeovers.length > 0 || problem !== '') changes.push({ takeovers, problem })
  if (lost > 0) {
    const reported = `${lost} records were lost when their process ended`
    changes.push({ onDisk: -lost, dropped: lost, reason: 'process_lost', problem: reported })
  }
  if (damaged > 0) {
    const reported = `${damaged} records of a spool were damaged`
    changes.push({ onDisk: -damaged, dropped: damaged, reason: 'corrupt', problem: reported })
  }
  return changes
}

/** Returns the size of all segments of other owners in bytes. */
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
    // The directory was just taken over or deleted.
    return []
  }
}

/** Removes a spool directory if it is empty. */
export function removeEmpty(dir: string): void {
  try {
    rmdirSync(dir)
  } catch {
    // The directory is not empty or no longer exists, both of which are fine.
  }
}

interface Found {
  readonly segments: Segment[]
  /** Number of torn records by the number of the file's first record. */
  readonly torn: Map<number, number>
  readonly problems: string[]
}

/** Lists the segments in a directory. A file that cannot be read is skipped and reported. */
function segmentsIn(dir: string, prefix: string): Found {
  const found: Found = { segments: [], torn: new Map(), problems: [] }
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
  if (sealed.tornRecords > 0) found.torn.set(location.first, sealed.tornRecords)
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
