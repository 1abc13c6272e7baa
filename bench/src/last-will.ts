import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What is killed still writes for a moment, into the folder that is removed. */
const REMOVAL = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 } as const
/** A process that was killed leaves its control group only once its memory is free: some 100 ms for a gigabyte. */
const LEAVING_MS = 5000
const LEAVING_LOOK_MS = 20

/**
 * Reads what has to go until this process is gone, by whatever death, and sees to it then: SIGKILL leaves no time to do it
 * oneself. It is a session of its own, so that what a terminal sends to this process does not end it.
 */
const EXECUTOR = `trap '' HUP INT QUIT TERM
targets=
while read -r kind rest; do
  case $kind in
    targets) targets=$rest ;;
    *) set -- "$@" "$kind" "$rest" ;;
  esac
done
for target in $targets; do kill -s KILL -- "$target"; done
while [ $# -gt 0 ]; do
  case $1 in
    folder) rm -rf -- "$2" || { sleep 1; rm -rf -- "$2"; } ;;
    group)
      looks=${LEAVING_MS / 100}
      while [ -d "$2" ] && ! rmdir -- "$2" && [ $((looks -= 1)) -gt 0 ]; do sleep 0.1; done ;;
  esac
  shift 2
done`

/** Processes, and groups of them with a minus before their number. */
const targets = new Set<number>()
const folders = new Set<string>()
/** Control groups: the executor removes them, because nobody in them is gone at once. */
const groups = new Set<string>()
let executor: ChildProcess | null = null

process.once('exit', () => {
  for (const target of targets) kill(target)
  for (const path of folders) rmSync(path, REMOVAL)
})

/** Has a process end when this one ends, however it ends, or a group of them with a minus before its number. */
export function takeAlong(target: number): void {
  targets.add(target)
  tell(targetsLine())
}

/** Leaves somebody alone who has come to an end. */
export async function letGo(target: number): Promise<void> {
  targets.delete(target)
  await tellLess()
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
  tell(`folder ${path}\n`)
  return {
    path,
    remove: async () => {
      rmSync(path, REMOVAL)
      folders.delete(path)
      await tellLess()
    },
  }
}

/** Makes a control group, which is removed once nobody is in it. @throws Error of the system */
export function temporaryGroup(path: string): TemporaryFolder {
  mkdirSync(path)
  groups.add(path)
  tell(`group ${path}\n`)
  return {
    path,
    remove: async () => {
      // Who does not leave it in time keeps it until this process ends.
      if (!(await removeGroup(path))) return
      groups.delete(path)
      await tellLess()
    },
  }
}

/** Waits until nobody is in it; answers whether it has gone. */
async function removeGroup(group: string): Promise<boolean> {
  const giveUpMono = performance.now() + LEAVING_MS
  for (;;) {
    try {
      rmdirSync(group)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true
      if (performance.now() > giveUpMono) return false
    }
    await new Promise((resolve) => setTimeout(resolve, LEAVING_LOOK_MS))
  }
}

function tell(line: string): void {
  executor ??= startExecutor()
  executor.stdin!.write(line)
}

/** Who has nothing to see to any more ends. */
async function tellLess(): Promise<void> {
  const last = executor
  if (last === null) return
  if (targets.size + folders.size + groups.size > 0) {
    tell(targetsLine())
    return
  }
  executor = null
  last.ref()
  const ended = new Promise((resolve) => last.once('close', resolve))
  last.stdin!.end(targetsLine())
  await ended
}

function targetsLine(): string {
  return `targets ${[...targets].join(' ')}\n`
}

function startExecutor(): ChildProcess {
  const child = spawn('/bin/sh', ['-c', EXECUTOR], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  // Without it all is seen to at the end of this process that can be.
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
