import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** An owner whose process cannot be looked at, on another machine or in this very process, is gone after this silence. */
const SILENT_AFTER_MS = 30_000

/** Who an owner of spool directories is. */
interface Owner {
  readonly host: string
  readonly pid: number
  /** When the process began, in the kernel's ticks: a process id is used again, this is not. */
  readonly started: string
}

/** The sign of life of one owner: `<name>.lock` beside the directories that it owns. */
export class OwnerLock {
  readonly #path: string

  constructor(root: string, name: string) {
    this.#path = lockPath(root, name)
    const owner: Owner = { host: hostname(), pid: process.pid, started: startOf(process.pid) }
    writeFileSync(this.#path, JSON.stringify(owner), { mode: 0o600, flag: 'wx' })
  }

  /** Shows that the owner lives. @throws the file system's error. */
  touch(nowMs: number): void {
    utimesSync(this.#path, nowMs / 1000, nowMs / 1000)
  }

  /** Lets go: others may adopt at once. */
  release(): void {
    rmSync(this.#path, { force: true })
  }
}

/** Whether an owner lives. One on this machine is looked for; of any other only its silence tells. */
export function isOwnerAlive(root: string, name: string, nowMs: number, modifiedMs: number | null): boolean {
  if (modifiedMs === null) return false
  const isTouched = nowMs - modifiedMs < SILENT_AFTER_MS
  const owner = readOwner(lockPath(root, name))
  if (owner === null) return isTouched
  if (owner.host !== hostname() || owner.pid === process.pid) return isTouched
  return startOf(owner.pid) === owner.started && exists(owner.pid)
}

/** Whether an owner is, or was, a thread of this process. */
export function isOwnedByThisProcess(root: string, name: string): boolean {
  const owner = readOwner(lockPath(root, name))
  return owner?.host === hostname() && owner.pid === process.pid && owner.started === startOf(process.pid)
}

/** Where an owner's lock lies. */
export function lockPath(root: string, name: string): string {
  return join(root, `${name}.lock`)
}

function readOwner(path: string): Owner | null {
  try {
    const owner: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isOwner(owner) ? owner : null
  } catch {
    return null
  }
}

function isOwner(value: unknown): value is Owner {
  if (typeof value !== 'object' || value === null) return false
  const { host, pid, started } = value as Partial<Record<keyof Owner, unknown>>
  return typeof host === 'string' && typeof pid === 'number' && typeof started === 'string'
}

/** The 22nd field of /proc/PID/stat, behind the command's name, which may hold anything; '' when there is none. */
function startOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
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
