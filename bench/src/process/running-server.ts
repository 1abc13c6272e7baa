import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { enterGroup, memoryGroup, removeGroup } from './memory-group.js'
import { connectFailure, LOOPBACK } from './port.js'
import { killGroup, reapAtExit, release } from './process-reaper.js'

/** A server of the benchmark: a system under test or an origin. */
export interface RunningServer {
  readonly name: string
  /** Scheme, host and port. */
  readonly url: string
  /** First process of its tree. */
  readonly pid: number
  readonly version: string
  /** Stops the server. Resolves when no process is left. */
  stop(): Promise<void>
}

/** Placement of a server. */
export interface Placement {
  /** Parent folder for its files. */
  readonly dir: string
  /** Host to listen on, loopback by default. */
  readonly host?: string | undefined
  /** Cores for `taskset`, or null for no pinning. */
  readonly cpus: string | null
  /** Number of cores to use, for workers or threads. */
  readonly cores: number
  /** Memory limit in bytes, or null for none. */
  readonly memoryBytes?: number | null
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>
}

/** Options for starting a server. */
export interface ServerOptions {
  readonly name: string
  readonly version: string
  /** Host, by default the one of the placement. */
  readonly host?: string
  readonly port: number
  readonly placement: Placement
  readonly command: readonly string[]
  /** Returns true once the server serves, beyond accepting connections. */
  readonly isReady?: () => Promise<boolean>
}

const START_MS = 60_000
const LOOK_MS = 25
const STOP_MS = 15_000
const LAST_LINES = 15

/**
 * Starts a server in a separate process group, so that Ctrl-C reaches only the benchmark. The group always ends with
 * the benchmark.
 * @throws Error if its address is in use, or with its last lines of output if it does not serve in time.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { name, version, port, placement, host = placement.host ?? LOOPBACK } = options
  if ((await connectFailure(host, port)) === null)
    throw new Error(`${host}:${port} is in use; stop the other process, or choose another address`)
  const pin = placement.cpus === null ? [] : ['taskset', '-c', placement.cpus]
  const group = memoryGroup(placement.memoryBytes ?? null)
  const [program, ...args] = [...enterGroup(group), ...pin, ...options.command] as [string, ...string[]]
  const file = join(placement.dir, `${name}-${port}.log`)
  const output = openSync(file, 'w')
  const child = spawn(program, args, {
    ...{ detached: true, stdio: ['ignore', output, output] },
    env: { ...process.env, ...placement.env },
  })
  closeSync(output)
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', () => resolve())
  })
  if (child.pid === undefined) throw new Error(`${name} cannot be started: ${program} does not run`)
  reapAtExit(-child.pid)
  const stop = (): Promise<void> => stopped(child, ended).finally(() => removeGroup(group))
  try {
    await serving(options, child)
  } catch (error) {
    await stop()
    throw new Error(`${(error as Error).message}\n${lastLines(file)}`, { cause: error })
  }
  // It does not keep this process alive, and ends with it.
  child.unref()
  return { name, url: `http://${host}:${port}`, pid: child.pid, version, stop }
}

async function serving(
  { name, placement, host = placement.host ?? LOOPBACK, port, isReady = async () => true }: ServerOptions,
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
  // Processes that remain after an unexpected end of the first one.
  killGroup(child.pid!)
  await release(-child.pid!)
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-LAST_LINES).join('\n')
}

type Stoppable = Pick<RunningServer, 'stop'>

/** The servers of one measurement. */
export class ServerStack {
  readonly #started: Stoppable[] = []

  async add<T extends Stoppable>(starting: Promise<T>): Promise<T> {
    const server = await starting
    this.#started.push(server)
    return server
  }

  /**
   * Stops all servers, the last one first, so that no proxy logs errors about a stopped origin.
   * @throws Error if one could not be stopped. The others are stopped anyway.
   */
  async stop(): Promise<void> {
    const errors: unknown[] = []
    for (const server of this.#started.splice(0).toReversed())
      await server.stop().catch((error: unknown) => errors.push(error))
    if (errors.length > 0) throw errors[0]
  }
}
