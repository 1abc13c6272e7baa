import type { Dirent } from 'node:fs'
import { opendir, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isOwnerAlive, lockPath, ownerOfLock } from './lock.js'
import { isOwnerName, ownersOf } from './owner-name.js'
import { parseSegmentName } from './segment.js'

/** A spool beside those in use, with records in it. */
export interface FormerSpool {
  readonly dir: string
  /** In segments whose name says how many there are. */
  readonly records: number
  /** Of those that were not sealed. */
  readonly openBytes: number
  /** There is more than was looked at. */
  readonly isMore: boolean
  /** Somebody lives who delivers it, or has been silent for a short time only. */
  readonly isOwned: boolean
}

/** Entries of directories that one look reads, all together: an outage of a day leaves as many in one spool. */
const MAX_ENTRIES = 50_000

/** Where a log keeps its spools. */
export interface SpoolLocations {
  /** The directory of a spool that the document does not name; that of an output has a hyphen and its name after that. */
  readonly usual: string
  readonly used: readonly string[]
}

/**
 * Spools with records that no output uses, of those that have a usual name and lie beside the usual one or beside one in
 * use. Never throws: what cannot be read is left out.
 * @param maxEntries of directories, that are read at most.
 */
export async function formerSpools(
  { usual, used }: SpoolLocations,
  maxEntries = MAX_ENTRIES,
): Promise<readonly FormerSpool[]> {
  const look = new Look(maxEntries)
  const paths = new Set(used.map((dir) => resolve(dir)))
  const parents = new Set([usual, ...used].map((dir) => dirname(resolve(dir))))
  const found: FormerSpool[] = []
  for (const parent of parents) {
    for (const { name } of await look.foldersIn(parent)) {
      const dir = join(parent, name)
      const isUsualName = name === basename(usual) || name.startsWith(`${basename(usual)}-`)
      if (!isUsualName || paths.has(dir)) continue
      const spool = await look.spoolIn(dir)
      if (spool.records > 0 || spool.openBytes > 0) found.push(spool)
    }
  }
  return found
}

/** One look at directories, which reads no more than its bound. */
class Look {
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
    for (const entry of entries) {
      if (!entry.isDirectory() || ownersOf(entry.name) === null) continue
      for (const file of await this.#entriesOf(join(dir, entry.name))) {
        const segment = file.isFile() ? parseSegmentName(file.name) : null
        if (segment === null) continue
        if (segment.records === null) openBytes += await sizeOf(join(dir, entry.name, file.name))
        else records += segment.records
      }
    }
    return { dir, records, openBytes, isOwned, isMore: this.#entriesLeft === 0 }
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
      // It is not there, or not for us to read.
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
