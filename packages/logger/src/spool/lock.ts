import { readFileSync, readlinkSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** An owner whose process cannot be looked at, on another machine or in this very process, is gone after this silence. */
const SILENT_AFTER_MS = 30_000

const ENDING = '.lock'

/** Who an owner of spool directories is. */
interface Owner {
  readonly host: string
  readonly pid: number
  /** When the process began, in the kernel's ticks: a process id is used again, this is not. */
  readonly started: string
  /** Where the process id means something: containers may share a host name and a volume, but not their processes. */
  readonly namespace: string
}

/** The sign of life of one owner: `<name>.lock` beside the directories that it owns. */
export class OwnerLock {
  readonly #path: string

  /** @param isMade this process has it already. @throws the file system's error. */
  constructor(root: string, name: string, isMade: boolean) {
    this.#path = lockPath(root, name)
    if (!isMade) this.#write()
  }

  /** Shows that the owner lives, also when somebody has removed the lock. @throws the file system's error. */
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

  /** Lets go: others may adopt at once. */
  release(): void {
    rmSync(this.#path, { force: true })
  }
}

/** Whether an owner lives. One on this machine is looked for; of any other only its silence shows it. */
export function isOwnerAlive(root: string, name: string, nowMs: number, modifiedMs: number | null): boolean {
  if (modifiedMs === null) return false
  const isTouched = Math.abs(nowMs - modifiedMs) < SILENT_AFTER_MS
  const owner = readOwner(lockPath(root, name))
  if (owner === null) return isTouched
  const { host, pid, namespace } = thisProcess()
  if (owner.host !== host || owner.namespace !== namespace || owner.pid === pid) return isTouched
  return startOf(owner.pid) === owner.started && exists(owner.pid)
}

/** Whether an owner is, or was, a thread of this process. */
export function isOwnedByThisProcess(root: string, name: string): boolean {
  const owner = readOwner(lockPath(root, name))
  return owner !== null && JSON.stringify(owner) === JSON.stringify(thisProcess())
}

/** Where an owner's lock lies. */
export function lockPath(root: string, name: string): string {
  return join(root, `${name}${ENDING}`)
}

/** Whose lock a file is by its name; null for any other file. */
export function ownerOfLock(file: string): string | null {
  return file.endsWith(ENDING) ? file.slice(0, -ENDING.length) : null
}

function thisProcess(): Owner {
  return {
    host: hostname(),
    pid: process.pid,
    started: startOf(process.pid),
    namespace: namespaceOfProcesses(),
  }
}

function readOwner(path: string): Owner | null {
  try {
    const owner: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (!isOwner(owner)) return null
    const { host, pid, started, namespace } = owner
    return { host, pid, started, namespace }
  } catch {
    return null
  }
}

function isOwner(value: unknown): value is Owner {
  if (typeof value !== 'object' || value === null) return false
  const { host, pid, started, namespace } = value as Partial<Record<keyof Owner, unknown>>
  const isText = [host, started, namespace].every((member) => typeof member === 'string')
  return isText && typeof pid === 'number'
}

/** The 22nd field of /proc/PID/stat, after the command's name, which may hold anything; '' when there is none. */
function startOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

/** Such as `pid:[4026531836]`; '' where the kernel has none. */
function namespaceOfProcesses(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
