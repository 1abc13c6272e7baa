import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { killGroup, reapAtExit, release } from '../process-reaper.js'
import { connectFailure, LOOPBACK } from './port.js'

/** A server of the benchmark: a system under test, or what stands behind it. */
export interface RunningServer {
  readonly name: string
  /** Scheme, host and port. */
  readonly url: string
  /** The first process of its tree. */
  readonly pid: number
  readonly version: string
  /** Resolves when no process of it is left. */
  stop(): Promise<void>
}

/** Where a server runs. */
export interface Placement {
  /** For its files; each server makes its own folder in it. */
  readonly dir: string
  /** The cores it is kept on, as taskset takes them; null: wherever the system puts it. */
  readonly cpus: string | null
  /** How many cores it is to use: workers, threads. */
  readonly cores: number
}

/** How a server is started. */
export interface ServerOptions {
  readonly name: string
  readonly version: string
  /** The loopback address unless it says otherwise. */
  readonly host?: string
  readonly port: number
  readonly placement: Placement
  readonly command: readonly string[]
  /** Answers once the server serves, beyond taking connections. */
  readonly isReady?: () => Promise<boolean>
}

const START_MS = 60_000
const LOOK_MS = 25
const STOP_MS = 15_000
const LAST_LINES = 15

/**
 * Starts a server in a group of processes of its own: a Ctrl-C then reaches only the benchmark, which stops gracefully.
 * The group ends with the benchmark, however that ends.
 *
 * @throws Error when somebody else serves at its address, and with the last lines of its output when it does not serve
 * in time.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { name, version, host = LOOPBACK, port, placement } = options
  if ((await connectFailure(host, port)) === null)
    throw new Error(`${host}:${port} is in use; stop the other process, or choose another address`)
  const pin = placement.cpus === null ? [] : ['taskset', '-c', placement.cpus]
  const [program, ...args] = [...pin, ...options.command] as [string, ...string[]]
  const file = join(placement.dir, `${name}-${port}.log`)
  const output = openSync(file, 'w')
  const child = spawn(program, args, { detached: true, stdio: ['ignore', output, output] })
  closeSync(output)
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', () => resolve())
  })
  if (child.pid === undefined) throw new Error(`${name} cannot be started: ${program} does not run`)
  reapAtExit(-child.pid)
  const stop = (): Promise<void> => stopped(child, ended)
  try {
    await serving(options, child)
  } catch (error) {
    await stop()
    throw new Error(`${(error as Error).message}\n${lastLines(file)}`, { cause: error })
  }
  // Whoever forgets it ends all the same, and it ends with them.
  child.unref()
  return { name, url: `http://${host}:${port}`, pid: child.pid, version, stop }
}

async function serving(
  { name, host = LOOPBACK, port, isReady = async () => true }: ServerOptions,
  child: ChildProcess,
): Promise<void> {
  const giveUpMono = performance.now() + START_MS
  while ((await connectFailure(host, port)) !== null || !(await isReady())) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${name} ended while it started`)
    if (performance.now() > giveUpMono) throw new Error(`${name} did not serve within ${START_MS / 1000} s`)
    await sleep(LOOK_MS)
  }
}

async function stopped(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.ref()
  child.kill('SIGTERM')
  const timer = setTimeout(() => killGroup(child.pid!), STOP_MS)
  await ended
  clearTimeout(timer)
  // What the first process has left behind, when it did not end in order.
  killGroup(child.pid!)
  await release(-child.pid!)
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-LAST_LINES).join('\n')
}
