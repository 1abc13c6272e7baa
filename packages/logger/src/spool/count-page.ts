import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { endedForSure, linkTo, type ProcessIdentity, thisProcess } from './lock.js'
import { isOwnerName } from './owner-name.js'

/** Directory in memory. Its files never wait for a disk. */
const SHARED_MEMORY = '/dev/shm'
const PREFIX = 'sluice-log-'
const PAGE_BYTES = 4096
/** The page starts with the numbers, and its creator follows as JSON. */
const CREATOR_AT = 64
const NUMBERS = 2
/** Maximum number of pages to look at when pages of ended processes are deleted. */
const MAX_PAGES = 1000
/** `PROT_READ | PROT_WRITE` and `MAP_SHARED` of mmap(2). */
const READ_WRITE = 3
const SHARED = 1

/**
 * Counts of an owner of spool directories: the number of records so far, and how many of them are not the
 * owner's. They are in a memory-mapped file, which survives the process. Storing one costs a few nanoseconds.
 */
export interface CountPage {
  readonly numbers: Float64Array
  /** True if the numbers survive the process. */
  readonly isMapped: boolean
  /** Releases the memory. The file stays. The numbers must not be used any more. */
  close(): void
}

/** Creator of a page. */
interface Creator extends ProcessIdentity {
  /** Spool root of the owner. */
  readonly root: string
  /** Mount namespace, in which the path of the root is valid. */
  readonly mounts: string
}

/** Creates the page of an owner. Without koffi or `/dev/shm`, it is in ordinary memory. */
export function createCountPage(root: string, owner: string, numbers: readonly [number, number]): CountPage {
  try {
    return mappedPage({ ...thisProcess(), root: resolve(root), mounts: ownMounts() }, owner, numbers)
  } catch {
    removeCountPage(owner)
    return { numbers: Float64Array.from(numbers), isMapped: false, close: () => {} }
  }
}

function mappedPage(creator: Creator, owner: string, numbers: readonly [number, number]): CountPage {
  const { map, unmap, view } = memoryMapping()
  const fd = openSync(pathOf(owner), 'wx+', 0o600)
  try {
    // The whole page is written, because storing to a missing page of a full file system ends the process.
    const page = Buffer.alloc(PAGE_BYTES)
    page.write(JSON.stringify(creator), CREATOR_AT)
    writeSync(fd, page)
    const address = map(null, PAGE_BYTES, READ_WRITE, SHARED, fd, 0)
    const mapped = new Float64Array(view(address, NUMBERS * Float64Array.BYTES_PER_ELEMENT))
    mapped.set(numbers)
    return { numbers: mapped, isMapped: true, close: () => unmap(address, PAGE_BYTES) }
  } finally {
    closeSync(fd)
  }
}

interface MemoryMapping {
  map(at: null, bytes: number, access: number, flags: number, fd: number, from: number): unknown
  unmap(address: unknown, bytes: number): void
  view(address: unknown, bytes: number): ArrayBuffer
}

let mapping: MemoryMapping | undefined

/** Loads mmap(2). @throws Error if koffi is not installed, or not for this system. */
function memoryMapping(): MemoryMapping {
  if (mapping !== undefined) return mapping
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi')
  const library = koffi.load(null)
  const map = library.func('void *mmap(void *, size_t, int, int, int, int64_t)')
  const unmap = library.func('int munmap(void *, size_t)')
  mapping = {
    map(...options) {
      const address: unknown = map(...options)
      if (BigInt.asIntN(64, koffi.address(address)) === -1n) throw new Error('cannot map memory')
      return address
    },
    unmap: (address, bytes) => unmap(address, bytes),
    view: (address, bytes) => koffi.view(address, bytes),
  }
  return mapping
}

/** Returns the number of an owner's records according to its page, or null if there is no page. */
export function readCountPage(owner: string): number | null {
  const page = readPage(owner)
  return page === null ? null : page.readDoubleLE(0) - page.readDoubleLE(Float64Array.BYTES_PER_ELEMENT)
}

/** Deletes the page of an owner whose records are accounted for. */
export function removeCountPage(owner: string): void {
  try {
    rmSync(pathOf(owner), { force: true })
  } catch {
    // It belongs to another user.
  }
}

/**
 * Deletes pages of ended processes that have no lock or directory in their spool root any more. In another mount
 * namespace, the root may be invisible or another directory. Pages from there are kept.
 */
export function removeLeftoverPages(): void {
  for (const file of filesIn(SHARED_MEMORY).filter(isPage).slice(0, MAX_PAGES)) {
    const owner = file.slice(PREFIX.length)
    const creator = creatorOf(owner)
    if (creator === null || creator.mounts !== ownMounts() || !endedForSure(creator)) continue
    if (!isKnown(creator.root, owner)) removeCountPage(owner)
  }
}

/** Returns the mount namespace of this process, or '' if unavailable. */
function ownMounts(): string {
  return linkTo('/proc/self/ns/mnt')
}

function isPage(file: string): boolean {
  return file.startsWith(PREFIX) && isOwnerName(file.slice(PREFIX.length))
}

function creatorOf(owner: string): Creator | null {
  try {
    const text = readPage(owner)!.toString('utf8', CREATOR_AT).replaceAll('\0', '')
    return JSON.parse(text) as Creator
  } catch {
    return null
  }
}

/** Returns true if a directory of a spool contains anything of an owner. */
function isKnown(dir: string, owner: string): boolean {
  return filesIn(dir).some(
    (name) => name.startsWith(owner) || (isOwnerName(name) && isKnown(join(dir, name), owner)),
  )
}

function filesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir)
  } catch {
    return []
  }
}

/** Returns the content of an owner's page, or null if this user has no such page. */
function readPage(owner: string): Buffer | null {
  try {
    // Anyone may create files there, also pipes, which would block.
    const fd = openSync(pathOf(owner), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const { uid, size } = fstatSync(fd)
      return uid === process.geteuid!() && size === PAGE_BYTES ? readFileSync(fd) : null
    } finally {
      closeSync(fd)
    }
  } catch {
    return null
  }
}

function pathOf(owner: string): string {
  return join(SHARED_MEMORY, `${PREFIX}${owner}`)
}
