import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What is killed still writes for a moment, into the folder that is removed. */
const REMOVAL = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 } as const
/**
 * A shell that reads what has to be cleaned up until this process is gone, and cleans it up then: SIGKILL leaves no time
 * to do so oneself. It is a session of its own, so that what a terminal sends to this process does not end it.
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

/** Processes, and groups of them with a minus before their number. */
const targets = new Set<number>()
const folders = new Set<string>()
let reaper: ChildProcess | null = null

process.once('exit', () => {
  for (const target of targets) kill(target)
  for (const path of folders) rmSync(path, REMOVAL)
})

/** Has a process end when this one ends, however it ends, or a group of them with a minus before its number. */
export function reapAtExit(target: number): void {
  targets.add(target)
  report(targetsLine())
}

/** Forgets a process that has ended. */
export async function release(target: number): Promise<void> {
  targets.delete(target)
  await sendRest()
}

/** Ends all that is left in a group by force. */
export function killGroup(group: number): void {
  kill(-group)
}

/** A folder that goes with this process. */
export interface TemporaryFolder {
  readonly path: string
  /** It goes now. */
  remove(): Promise<void>
}

/** Makes a folder that only this user can look into. */
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

/** The reaper ends when nothing is left to clean up. */
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
  // Without it this process cleans up at its own exit.
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
    // Nobody is left.
  }
}
