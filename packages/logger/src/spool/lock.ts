import { readFileSync, readlinkSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isAlive, readStat } from '@sluice/core/process-stat'

/**
 * Time of silence after which an owner counts as ended, in milliseconds. Applies to owners whose process
 * cannot be checked: on another machine, or in this process.
 */
const SILENT_AFTER_MS = 30_000

const ENDING = '.lock'

/** Identity of a process that owns spool directories. */
export interface ProcessIdentity {
  readonly host: string
  readonly pid: number
  /** Start time of the process in clock ticks. Unlike the process ID, it is not reused. */
  readonly started: string
  /** PID namespace. Containers may share a host name and a volume but not their processes. */
  readonly namespace: string
}

/** Heartbeat file of an owner: `<name>.lock` next to its directories. */
export class OwnerLock {
  readonly #path: string

  /** @param isMade True if this process has already created the lock. @throws The file system error. */
  constructor(root: string, name: string, isMade: boolean) {
    this.#path = lockPath(root, name)
    if (!isMade) this.#write()
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
      writeFileSync(this.#path, JSON.stringify(thisProcess()), { mode: 0o600, flag: 'wx' })
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
 * Returns true if an owner is alive. An owner on this machine is checked by its process, any other by its
 * heartbeat.
 */
export function isOwnerAlive(root: string, name: string, nowMs: number, modifiedMs: number | null): boolean {
  if (modifiedMs === null) return false
  const isTouched = Math.abs(nowMs - modifiedMs) < SILENT_AFTER_MS
  const owner = readOwner(lockPath(root, name))
  if (owner === null) return isTouched
  const { host, pid, namespace } = thisProcess()
  if (owner.host !== host || owner.namespace !== namespace || owner.pid === pid) return isTouched
  return startOf(owner.pid) === owner.started && isAlive(owner.pid)
}

/** Returns true if a process of this machine has ended. Other processes cannot be checked. */
export function endedForSure({ host, pid, started, namespace }: ProcessIdentity): boolean {
  const own = thisProcess()
  return host === own.host && namespace === own.namespace && startOf(pid) !== started
}

/** Returns true if an owner is or was a thread of this process. */
export function isOwnedByThisProcess(root: string, name: string): boolean {
  const owner = readOwner(lockPath(root, name))
  return owner !== null && JSON.stringify(owner) === JSON.stringify(thisProcess())
}

/** Returns the path of an owner's lock. */
export function lockPath(root: string, name: string): string {
  return join(root, `${name}${ENDING}`)
}

/** Returns the owner of a lock file, or null for any other file. */
export function ownerOfLock(file: string): string | null {
  return file.endsWith(ENDING) ? file.slice(0, -ENDING.length) : null
}

/** Returns the identity of this process. */
export function thisProcess(): ProcessIdentity {
  return {
    host: hostname(),
    pid: process.pid,
    started: startOf(process.pid),
    namespace: namespaceOfProcesses(),
  }
}

function readOwner(path: string): ProcessIdentity | null {
  try {
    const owner: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (!isOwner(owner)) return null
    const { host, pid, started, namespace } = owner
    return { host, pid, started, namespace }
  } catch {
    return null
  }
}

function isOwner(value: unknown): value is ProcessIdentity {
  if (typeof value !== 'object' || value === null) return false
  const { host, pid, started, namespace } = value as Partial<Record<keyof ProcessIdentity, unknown>>
  const isText = [host, started, namespace].every((member) => typeof member === 'string')
  return isText && typeof pid === 'number'
}

/** Returns the start time of a process, or '' if unavailable. */
function startOf(pid: number): string {
  try {
    return readStat(`/proc/${pid}/stat`).fields[19] ?? ''
  } catch {
    return ''
  }
}

/** Returns the PID namespace, such as `pid:[4026531836]`, or '' if unavailable. */
function namespaceOfProcesses(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}
