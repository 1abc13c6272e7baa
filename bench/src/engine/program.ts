import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { withMaskedUrls } from '../masking.js'
import { killGroup, reapAtExit, release } from '../process-reaper.js'
import { findProgram } from '../servers/program.js'

/** How a program is run. */
export interface ProgramOptions {
  /** The core or cores it is pinned to, as taskset writes them; null: anywhere. */
  readonly cpu: string | null
  /** Ended by force when it takes longer. */
  readonly limitSeconds: number
  /** What it reads before its standard input stands still, which ends with us: arguments are for everybody to read. */
  readonly input?: string
}

/** What a program that ended by itself left behind. */
export interface ProgramEnd {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
  /** User and system time of all its threads over the time from its start to its end; 1 is one core. */
  readonly coresUsed: number
}

/** Beyond the planned time: starting, connecting, and writing the result on a machine that is slow. */
export const GRACE_SECONDS = 60
const LAST_LINES = 8
/** The shell reports a child that a signal ended as this and the number of the signal. */
const SIGNALLED = 128

/**
 * The shell reaps the program and then says what the kernel counted for it, threads and all, to the microsecond: reading
 * /proc would miss what is used between the last look and the end. `times` writes two lines: the shell's, its children's.
 */
const COUNTED = '"$@"; status=$?; times >&2; exit $status'

/**
 * Runs a program to its end, pinned when wanted, in a process group of its own: an interrupt from the keyboard is for us,
 * who end the load in order. It does not outlive our process, and its standard input ends with it.
 * @throws Error when it cannot be started, or was ended by somebody or by its limit.
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
  // A program that does not read its standard input may close it at any time.
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

/** Like `runProgram`. @throws Error with the last lines of its output when it did not succeed either. */
export async function runToSuccess(command: readonly string[], options: ProgramOptions): Promise<ProgramEnd> {
  const end = await runProgram(command, options)
  if (end.status !== 0) throw failure(command[0]!, end)
  return end
}

/** What to say of a program that ended with a status. */
export function failure(program: string, end: ProgramEnd): Error {
  return new Error(`${program.split('/').at(-1)} failed with status ${end.status}${tail(end)}`)
}

/** How many cores a pinned program can use: `0` and `0,2` are 1 and 2. Without a pin: all of them. */
export function coreCount(cpu: string | null): number {
  if (cpu === null) return availableParallelism()
  return cpu.split(',').length
}

/** The CPU time in the last line that the shell wrote, such as `0m1.250000s 0m0.310000s`. */
export function childrenMicros(stderr: string): number {
  const line = /(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*$/.exec(stderr)
  if (line === null) return Number.NaN
  const [userMinutes, user, systemMinutes, system] = line.slice(1).map(Number)
  return ((userMinutes! + systemMinutes!) * 60 + user! + system!) * 1e6
}

/** The last lines that a program wrote, for the end of a message, without those of the shell and what may be a secret in URLs. */
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
