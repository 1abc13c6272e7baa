import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { withMaskedUrls } from '../lib/masking.js'
import { findProgram } from './executables.js'
import { killGroup, reapAtExit, release } from './process-reaper.js'

interface ProgramOptions {
  /** Cores for `taskset`, or null for no pinning. */
  readonly cpu: string | null
  /** Time limit in seconds, after which the program is killed. */
  readonly limitSeconds: number
  /** Input before standard input stays open until this process ends. Arguments would be visible to all users. */
  readonly input?: string
}

/** Result of a program that ended by itself. */
export interface ProgramEnd {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
  /** CPU time of all threads per elapsed time. 1 is one core. */
  readonly coresUsed: number
}

/** Additional time for starting, connecting and writing the result on a slow machine, in seconds. */
export const GRACE_SECONDS = 60
const LAST_LINES = 8
/** Offset of the exit code that a shell reports for a child killed by a signal. */
const SIGNALLED = 128

/**
 * The shell reaps the program and prints the CPU time that the kernel counted, to the microsecond. Reading /proc
 * would miss the time after the last read. `times` prints two lines: for the shell and for its children.
 */
const COUNTED = '"$@"; status=$?; times >&2; exit $status'

/**
 * Runs a program to its end, pinned if requested, in a separate process group, so that Ctrl-C reaches only this
 * process. The program ends with this process.
 * @throws Error if it cannot start, was killed, or exceeds its time limit.
 */
export async function runProgram(command: readonly string[], options: ProgramOptions): Promise<ProgramEnd> {
  const pinned = options.cpu === null ? command : ['taskset', '-c', options.cpu, ...command]
  if (options.cpu !== null && findProgram('taskset') === null)
    throw new Error('taskset is not installed: install the package util-linux, or run without pinning')
  const startMono = performance.now()
  const child = spawn('/bin/sh', ['-c', COUNTED, 'sh', ...pinned], { stdio: 'pipe', detached: true })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  // A program may close its standard input at any time.
  child.stdin.on('error', () => {})
  if (options.input !== undefined) child.stdin.write(options.input)
  const status = await ended(child, options.limitSeconds)
  const elapsedMicros = (performance.now() - startMono) * 1000
  const name = command[0]!.split('/').at(-1)!
  if (status === 'late') throw new Error(`${name} was ended after ${options.limitSeconds} s${tail(output)}`)
  if (status === null || status > SIGNALLED)
    throw new Error(`${name} was ended by a signal: the load was aborted${tail(output)}`)
  return { status, ...output, coresUsed: childrenMicros(output.stderr) / elapsedMicros }
}

/** Like `runProgram`. @throws Error with the last lines of output if it fails. */
export async function runToSuccess(command: readonly string[], options: ProgramOptions): Promise<ProgramEnd> {
  const end = await runProgram(command, options)
  if (end.status !== 0) throw failure(command[0]!, end)
  return end
}

/** Returns the error for a failed program. */
export function failure(program: string, end: ProgramEnd): Error {
  return new Error(`${program.split('/').at(-1)} failed with status ${end.status}${tail(end)}`)
}

/** Number of cores of a pinned program: 1 for `0`, 2 for `0,2`. Without pinning, all cores. */
export function coreCount(cpu: string | null): number {
  if (cpu === null) return availableParallelism()
  return cpu.split(',').length
}

/** Parses the CPU time in the shell's last line, such as `0m1.250000s 0m0.310000s`. */
export function childrenMicros(stderr: string): number {
  const line = /(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*$/.exec(stderr)
  if (line === null) return Number.NaN
  const [userMinutes, user, systemMinutes, system] = line.slice(1).map(Number)
  return ((userMinutes! + systemMinutes!) * 60 + user! + system!) * 1e6
}

/** Returns the last lines of output for a message, without lines of the shell and secrets in URLs. */
function tail({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string {
  const lines = `${stdout}\n${stderr}`
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\d+m[\d.]+s \d+m[\d.]+s$/.test(line))
  return lines.length === 0 ? '' : `:\n${withMaskedUrls(lines.slice(-LAST_LINES).join('\n'))}`
}

async function ended(child: ChildProcess, limitSeconds: number): Promise<number | null | 'late'> {
  if (child.pid !== undefined) reapAtExit(-child.pid)
  let isLate = false
  const limit = setTimeout(() => {
    isLate = true
    killGroup(child.pid!)
  }, limitSeconds * 1000)
  try {
    const [status] = (await once(child, 'close')) as [number | null]
    return isLate ? 'late' : status
  } finally {
    clearTimeout(limit)
    if (child.pid !== undefined) await release(-child.pid)
  }
}
