import type { Dirent } from 'node:fs'
import { opendir, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isOwnerAlive, lockPath, ownerOfLock } from './lock.js'
import { isOwnerName } from './owner-name.js'
import { parseSegmentName } from './segment.js'

/** A spool with records that no target uses. */
export interface FormerSpool {
  readonly dir: string
  /** Number of records in sealed segments, whose names contain the number. */
  readonly records: number
  /** Size of unsealed segments in bytes. */
  readonly openBytes: number
  /** True if there are more entries than were read. */
  readonly isMore: boolean
  /** True if its owner is alive, or may be because it has been silent only for a short time. */
  readonly isOwned: boolean
}

/** Maximum number of directory entries read per check. An outage of a day leaves this many in one spool. */
const MAX_ENTRIES = 50_000

/** Spool locations of a log. */
export interface SpoolLocations {
  /** Default spool directory. Targets append a hyphen and their name. */
  readonly usual: string
  readonly used: readonly string[]
}

/**
 * Finds spools with records that no target uses. Checks directories with a default name, next to the default
 * spool or a spool in use. Never throws; unreadable directories are skipped.
 * @param maxEntries Maximum number of directory entries to read.
 */
export async function formerSpools(
  { usual, used }: SpoolLocations,
  maxEntries = MAX_ENTRIES,
): Promise<readonly FormerSpool[]> {
  const reader = new DirectoryReader(maxEntries)
  const paths = new Set(used.map((dir) => resolve(dir)))
  const parents = new Set([usual, ...used].map((dir) => dirname(resolve(dir))))
  const found: FormerSpool[] = []
  for (const parent of parents) {
    for (const { name } of await reader.foldersIn(parent)) {
      const dir = join(parent, name)
      const isUsualName = name === basename(usual) || name.startsWith(`${basename(usual)}-`)
      if (!isUsualName || paths.has(dir)) continue
      const spool = await reader.spoolIn(dir)
      if (spool.records > 0 || spool.openBytes > 0) found.push(spool)
    }
  }
  return found
}

/** Reads directories up to the limit of entries. */
class DirectoryReader {
  #entriesLeft: number

  constructor(maxEntries: number) {
    this.#entriesLeft = maxEntries
  }

  async foldersIn(dir: string): Promise<readonly Dirent[]> {
    return (await this.#entriesOf(dir)).filter((entry) => entry.isDirectory())
  }

  async spoolIn(dir: string): Promise<FormerSpool> {
    const entries = await this.#entriesOf(dir)
    let isOwned = false
    for (const { name } of entries) isOwned ||= await isLockOfLiving(dir, name)
    let records = 0
    let openBytes = 0
    for (const file of await this.#filesOfOwners(dir, entries)) {
      const segment = file.isFile() ? parseSegmentName(file.name) : null
      if (segment === null) continue
      if (segment.records === null) openBytes += await sizeOf(join(file.parentPath, file.name))
      else records += segment.records
    }
    return { dir, records, openBytes, isOwned, isMore: this.#entriesLeft === 0 }
  }

  /** Returns the files in the owners' directories, and in those that the owners have taken over. */
  async #filesOfOwners(dir: string, entries: readonly Dirent[]): Promise<readonly Dirent[]> {
    const files: Dirent[] = []
    for (const { name } of entries.filter((entry) => entry.isDirectory() && isOwnerName(entry.name))) {
      const inside = await this.#entriesOf(join(dir, name))
      files.push(...inside, ...(await this.#filesOfOwners(join(dir, name), inside)))
    }
    return files
  }

  async #entriesOf(dir: string): Promise<readonly Dirent[]> {
    const entries: Dirent[] = []
    try {
      for await (const entry of await opendir(dir)) {
        if (this.#entriesLeft === 0) break
        this.#entriesLeft--
        entries.push(entry)
      }
    } catch {
      // The directory does not exist or is not readable.
    }
    return entries
  }
}

async function isLockOfLiving(root: string, file: string): Promise<boolean> {
  const owner = ownerOfLock(file)
  if (owner === null || !isOwnerName(owner)) return false
  const lock = await stat(lockPath(root, owner)).catch(() => null)
  return isOwnerAlive(root, owner, Date.now(), lock?.mtimeMs ?? null)
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0
}

/**
 * Interval and number of checks of a spool whose owner may still be alive. For an owner on another host, this
 * takes 30 s to find out.
 */
const LOOK_EVERY_MS = 5000
const MAX_LOOKS = 10

/**
 * Reports records waiting for a target that was removed from the configuration. Reports each spool once per
 * log.
 */
export class FormerSpoolWatch {
  readonly #lookEveryMs: number
  #looking = new AbortController()
  #isClosed = false

  constructor(lookEveryMs = LOOK_EVERY_MS) {
    this.#lookEveryMs = lookEveryMs
  }

  /** Starts checking for unused spools of a log. Ends earlier checks. */
  look(locations: SpoolLocations, report: (message: string) => void): void {
    this.#looking.abort()
    this.#looking = new AbortController()
    if (!this.#isClosed) void this.#lookUntilGone(locations, report, this.#looking.signal)
  }

  close(): void {
    this.#isClosed = true
    this.#looking.abort()
  }

  async #lookUntilGone(
    locations: SpoolLocations,
    report: (message: string) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const reported = new Set<string>()
    for (let looks = 1; looks <= MAX_LOOKS; looks++) {
      const spools = await formerSpools(locations)
      if (signal.aborted) return
      for (const spool of spools) {
        if (spool.isOwned || reported.has(spool.dir)) continue
        reported.add(spool.dir)
        report(textOf(spool))
      }
      if (!spools.some(({ isOwned }) => isOwned)) return
      await sleep(this.#lookEveryMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }
}

function textOf({ dir, records, openBytes, isMore }: FormerSpool): string {
  const parts = records > 0 ? [`${records} records`] : []
  if (openBytes > 0) parts.push(`${openBytes} bytes of records`)
  const amount = `${isMore ? 'more than ' : ''}${parts.join(' and ')}`
  return `${amount} wait in ${dir}, but no target of this log uses this spool; set it as the spool.dir of a target, or delete it`
}
