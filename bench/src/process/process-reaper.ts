import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Removal is retried, because killed processes may write for a moment. */
const REMOVAL = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 } as const
/**
 * A shell that reads a list of processes and folders, and cleans them up when this process ends: SIGKILL leaves this
 * process no time. It is a separate session, so signals from a terminal do not end it.
 */
const REAPER = `trap '' HUP INT QUIT TERM
targets=
while read -r kind rest; do
  case $kind in
    targets) targets=$rest ;;
    folder) set -- "$@" "$rest" ;;
  esac
done
for target in $targets; do kill -s KILL -- "$target"; done
for folder in "$@"; do rm -rf -- "$folder" || { sleep 1; rm -rf -- "$folder"; }; done`

/** Process ids, and negative process group ids. */
const targets = new Set<number>()
const folders = new Set<string>()
let reaper: ChildProcess | null = null

process.once('exit', () => void killAll())

/** Ends a process, or a group with a negative id, when this process ends for any reason. */
export function reapAtExit(target: number): void {
  targets.add(target)
  report(targetsLine())
}

/** Removes a process that has ended from the list. */
export async function release(target: number): Promise<void> {
  targets.delete(target)
  await sendRest()
}

/** Kills all registered processes and removes all folders. */
export async function killAll(): Promise<void> {
  for (const target of targets) kill(target)
  for (const path of folders) rmSync(path, REMOVAL)
  targets.clear()
  folders.clear()
  await sendRest()
}

/** Kills all remaining processes of a group. */
export function killGroup(group: number): void {
  kill(-group)
}

/** A folder that is removed with this process. */
export interface TemporaryFolder {
  readonly path: string
  remove(): Promise<void>
}

/** Creates a folder that only this user can read. */
export function temporaryFolder(prefix: string): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), prefix))
  folders.add(path)
  report(`folder ${path}\n`)
  return {
    path,
    remove: async () => {
      rmSync(path, REMOVAL)
      folders.delete(path)
      await sendRest()
    },
  }
}

function report(line: string): void {
  reaper ??= startReaper()
  reaper.stdin!.write(line)
}

/** The reaper ends when its list is empty. */
async function sendRest(): Promise<void> {
  const last = reaper
  if (last === null) return
  if (targets.size + folders.size > 0) {
    report(targetsLine())
    return
  }
  reaper = null
  last.ref()
  const ended = new Promise((resolve) => last.once('close', resolve))
  last.stdin!.end(targetsLine())
  await ended
}

function targetsLine(): string {
  return `targets ${[...targets].join(' ')}\n`
}

function startReaper(): ChildProcess {
  const child = spawn('/bin/sh', ['-c', REAPER], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  // Without the reaper, this process cleans up at its own exit.
  child.once('error', () => {})
  child.stdin.on('error', () => {})
  child.unref()
  ;(child.stdin as Socket).unref()
  return child
}

function kill(target: number): void {
  try {
    process.kill(target, 'SIGKILL')
  } catch {
    // The group has ended.
  }
}
