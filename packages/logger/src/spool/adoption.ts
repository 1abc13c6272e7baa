import { existsSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Takeover } from '@sluice/core'
import type { LogChange } from '../queue/messages.js'
import { takeGap } from './gap-file.js'
import { isOwnedByThisProcess, isOwnerAlive, lockPath, ownerOfLock } from './lock.js'
import { type Progress, takeProgress } from './mark.js'
import { isOwnerName } from './owner-name.js'
import { parseSegmentName, Segment, type SegmentLocation, sealAbandoned } from './segment.js'

/** Result of taking over the directories of owners that have ended. */
export interface AdoptionResult {
  /** Segments, oldest first. */
  readonly segments: readonly Segment[]
  /** Directories taken over, including empty ones. */
  readonly dirs: readonly string[]
  /** Changes of the counts, and problems that prevented a takeover. */
  readonly changes: readonly LogChange[]
}

/** Returns the directory that an owner writes to. */
export function ownDirectory(root: string, owner: string): string {
  return join(root, owner)
}

/**
 * Takes over the directories of owners that have ended. A directory is moved into that of the new owner, together with
 * the directories that its owner had taken over:
 *
 *     spool/a/ (segments, mark)  spool/b/   ─►  spool/b/a/  ─►  spool/c/b/ and spool/c/a/
 *
 * This is one step, so only one of several adopters succeeds. Only that one reads the marks, which tell how many records
 * were lost with an owner. If an adopter ends in between, the next one takes over.
 * @param owner New owner, whose directory exists. @throws The file system error if the root cannot be read.
 */
export function adoptDirectories(root: string, owner: string, nowMs: number): AdoptionResult {
  const estates: Estate[] = []
  const problems: string[] = []
  const names = ownersIn(root)
  const isGone = (name: string): boolean =>
    name !== owner && !isOwnerAlive(root, name, nowMs, modifiedMs(lockPath(root, name)))
  for (const name of names) {
    if (!isGone(name.split('~').at(-1)!)) continue
    try {
      estates.push(claim(root, name, owner))
    } catch (error) {
      // Another adopter was faster.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        problems.push(`${name}: ${(error as Error).message}`)
    }
  }
  for (const file of filesIn(root)) {
    const left = ownerOfLock(file)
    if (left === null || !isOwnerName(left) || !isGone(left)) continue
    const isNeeded = names.some((name) => name === left || existsSync(join(root, name, left)))
    if (!isNeeded) rmSync(lockPath(root, left), { force: true })
  }
  return adoptionResult(root, estates, problems)
}

/** Directories that an ended owner has left. The first is its own. */
type Estate = readonly LeftDirectory[]

interface LeftDirectory {
  readonly dir: string
  /** Owner that created the directory. */
  readonly made: string
  /** True if the losses of its creator were already counted. */
  readonly isCounted: boolean
  readonly found: Found
}

/** Claims the directories of an owner. @throws The file system error; ENOENT if another adopter was faster. */
function claim(root: string, name: string, owner: string): Estate {
  // The sink counts the losses of its own threads. This is checked first, because another adopter may delete the locks
  // once the directory is claimed.
  const counted = [name, ...ownersIn(join(root, name))].filter((made) => isOwnedByThisProcess(root, made))
  const heir = ownDirectory(root, owner)
  const creator = name.split('~', 1)[0]!
  renameSync(join(root, name), join(heir, creator))
  return directoriesIn(heir, join(heir, creator)).map((dir) => {
    const made = basename(dir)
    return { dir, made, isCounted: counted.includes(made), found: segmentsIn(dir, made) }
  })
}

/**
 * Moves the directories in a claimed directory next to it. One that cannot be moved stays where it is, because nobody else
 * would find it. Returns the paths of all.
 */
function directoriesIn(heir: string, claimed: string): readonly string[] {
  const inside = ownersIn(claimed).map((made) => moved(join(claimed, made), join(heir, made)))
  return [claimed, ...inside.flatMap((dir) => directoriesIn(heir, dir))]
}

/** Moves a directory. Returns its path, which is the old one if that fails. */
function moved(from: string, to: string): string {
  try {
    renameSync(from, to)
    return to
  } catch {
    return from
  }
}

/** Returns the names of the owners' directories in a directory. */
function ownersIn(dir: string): readonly string[] {
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isOwnerName(entry.name))
    .map(({ name }) => name)
}

/**
 * Reads the marks last, when everything else is ready to be reported. If an adopter ends before, nothing has
 * been counted.
 */
function adoptionResult(root: string, estates: readonly Estate[], problems: string[]): AdoptionResult {
  const all = estates.flat()
  for (const { made } of all) rmSync(lockPath(root, made), { force: true })
  const changes = estates.flatMap((estate) => changesOf(estate))
  problems.push(...all.flatMap(({ found }) => found.problems))
  if (problems.length > 0) changes.push({ problem: `cannot take over a spool: ${problems.join('; ')}` })
  const segments = all.flatMap(({ found }) => found.segments).sort(byAge)
  return { segments, dirs: all.map(({ dir }) => dir), changes }
}

/** Returns the changes of the counts by a takeover. */
function changesOf(estate: Estate): LogChange[] {
  let [records, lost, damaged] = [0, 0, 0]
  for (const { dir, made, isCounted, found } of estate) {
    const losses = lossesOf(takeProgress(dir, made), isCounted, found)
    lost += losses.lost
    damaged += losses.damaged
    for (const segment of found.segments) records += segment.records
  }
  const takeover: Takeover = { from: estate.map(({ made }) => made), records: records + lost + damaged }
  const gaps = estate.flatMap(({ dir }) => takeGap(dir) ?? [])
  const changes: LogChange[] = [{ takeovers: [takeover], gaps }]
  if (lost > 0) {
    const problem = `${lost} records were lost when their process ended`
    changes.push({ onDisk: -lost, dropped: lost, reason: 'process_lost', problem })
  }
  if (damaged > 0) {
    const problem = `${damaged} records of a spool were damaged`
    changes.push({ onDisk: -damaged, dropped: damaged, reason: 'corrupt', problem })
  }
  return changes
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

/** Returns the size of all segments of other owners in bytes. */
export function bytesOfOthers(root: string, owner: string): number {
  let bytes = 0
  for (const name of ownersIn(root)) if (name !== owner) bytes += bytesIn(join(root, name))
  return bytes
}

/** Returns the size of the segments of an owner in bytes. */
function bytesIn(dir: string): number {
  let bytes = 0
  for (const file of filesIn(dir)) {
    if (isOwnerName(file)) bytes += bytesIn(join(dir, file))
    else if (parseSegmentName(file) !== null)
      bytes += statSync(join(dir, file), { throwIfNoEntry: false })?.size ?? 0
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

/** Removes a spool directory if it is empty. Returns true if it no longer exists. */
export function removeEmpty(dir: string): boolean {
  try {
    rmdirSync(dir)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
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
