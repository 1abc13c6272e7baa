import { existsSync, readFileSync, readlinkSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { isAlive, readStat } from '@sluice/core/process-stat'

/**
 * Time of silence after which an owner counts as ended, in milliseconds. Applies to owners that cannot be checked, such as
 * those on another machine.
 */
const SILENT_AFTER_MS = 30_000

const ENDING = '.lock'
const LOCK_BYTES = 512

/** Identity of a process that owns spool directories. */
export interface ProcessIdentity {
  readonly host: string
  readonly pid: number
  /** Start time of the process in clock ticks. Unlike the process ID, it is not reused. */
  readonly started: string
  /** PID namespace. Containers may share a host name and a volume but not their processes. */
  readonly namespace: string
}

/** Identity of an owner of spool directories. */
interface Owner extends ProcessIdentity {
  /** Thread, as its path in `/proc` and its start time. Empty for the main thread, which creates the first owner. */
  readonly thread: string
}

/** Heartbeat file of an owner: `<name>.lock` next to its directories. */
export class OwnerLock {
  readonly #path: string

  /** @param isMade True if another thread of this process has created the lock. @throws The file system error. */
  constructor(root: string, name: string, isMade: boolean) {
    this.#path = lockPath(root, name)
    if (!isMade) this.#write()
    // The space is reserved, so this works on a full disk, too.
    else if (existsSync(this.#path)) writeFileSync(this.#path, lockContent(), { flag: 'r+' })
  }

  /** Updates the heartbeat. Creates the lock again if it was deleted. @throws The file system error. */
  touch(nowMs: number): void {
    try {
      utimesSync(this.#path, nowMs / 1000, nowMs / 1000)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      this.#write()
    }
  }

  #write(): void {
    try {
      writeFileSync(this.#path, lockContent(), { mode: 0o600, flag: 'wx' })
    } catch (error) {
      // A full disk leaves an empty file.
      this.release()
      throw error
    }
  }

  /** Deletes the lock, so that others may take over immediately. */
  release(): void {
    rmSync(this.#path, { force: true })
  }
}

/**
 * Returns true if an owner is alive. An owner on this machine is checked by its process, one in this process by its
 * thread, any other by its heartbeat. Threads of other processes are left to their successors there, which know the
 * records in their memory.
 */
export function isOwnerAlive(root: string, name: string, nowMs: number, modifiedMs: number | null): boolean {
  if (modifiedMs === null) return false
  const isTouched = Math.abs(nowMs - modifiedMs) < SILENT_AFTER_MS
  const owner = readOwner(lockPath(root, name))
  if (owner === null) return isTouched
  const { host, namespace } = thisProcess()
  const { pid = 0, thread = '' } = owner
  if (owner.host !== host || owner.namespace !== namespace) return isTouched
  if (startOf(`${pid}`) !== owner.started || !isAlive(pid)) return false
  if (pid !== process.pid) return true
  return thread === '' ? isTouched : withStart(thread.split(' ', 1)[0]!) === thread
}

/** Returns true if a process of this machine has ended. Other processes cannot be checked. */
export function endedForSure({ host, pid, started, namespace }: ProcessIdentity): boolean {
  const own = thisProcess()
  return host === own.host && namespace === own.namespace && startOf(`${pid}`) !== started
}

/** Returns true if an owner is or was a thread of this process. */
export function isOwnedByThisProcess(root: string, name: string): boolean {
  const owner = readOwner(lockPath(root, name))
  const { host, pid, started, namespace } = thisProcess()
  return (
    owner?.host === host && owner.pid === pid && owner.started === started && owner.namespace === namespace
  )
}

/** Returns the path of an owner's lock. */
export function lockPath(root: string, name: string): string {
  return join(root, `${name}${ENDING}`)
}

/** Returns the owner of a lock file, or null for any other file. */
export function ownerOfLock(file: string): string | null {
  return file.endsWith(ENDING) ? file.slice(0, -ENDING.length) : null
}

/** Returns the content of a lock of this thread. All locks have the same length. */
function lockContent(): string {
  const thread = isMainThread ? '' : withStart(linkTo('/proc/thread-self'))
  return JSON.stringify({ ...thisProcess(), thread } satisfies Owner).padEnd(LOCK_BYTES)
}

/** Returns the identity of this process. */
export function thisProcess(): ProcessIdentity {
  return {
    host: hostname(),
    pid: process.pid,
    started: startOf(`${process.pid}`),
    namespace: linkTo('/proc/self/ns/pid'),
  }
}

/** Reads a lock. Members may be missing if it was not written by this version. */
function readOwner(path: string): Partial<Owner> | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}

/** Returns a path in `/proc` with its start time, or '' if unavailable. */
function withStart(path: string): string {
  const started = startOf(path)
  return started === '' ? '' : `${path} ${started}`
}

/** Returns the start time of a process or thread, or '' if unavailable. @param path Its path in `/proc`. */
function startOf(path: string): string {
  try {
    return readStat(`/proc/${path}/stat`).fields[19] ?? ''
  } catch {
    return ''
  }
}

/** Returns the target of a link, such as `pid:[4026531836]`, or '' if unavailable. */
export function linkTo(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
