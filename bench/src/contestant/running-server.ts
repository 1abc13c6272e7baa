import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { killGroup, letGo, takeAlong } from '../last-will.js'
import { MemoryGroup } from './memory-group.js'

/** A server of the benchmark: a contestant, or what stands behind it. */
export interface RunningServer {
  readonly name: string
  /** Scheme, host and port. */
  readonly url: string
  /** The first process of its tree. */
  readonly pid: number
  readonly version: string
  /** The group of all its processes; null: its memory has no limit of its own. */
  readonly memory: MemoryGroup | null
  /** Resolves when no process of it is left. */
  stop(): Promise<void>
}

/** Where a server runs. */
export interface Seat {
  /** For its files; each server makes its own folder in it. */
  readonly dir: string
  /** The cores it is kept on, as taskset takes them; null: wherever the system puts it. */
  readonly cpus: string | null
  /** How many cores it is to use: workers, threads. */
  readonly cores: number
  /** How much memory it may use with all below it; null or absent: as much as there is. */
  readonly memoryBytes?: number | null
}

/** How a server is started. */
export interface ServerOrder {
  readonly name: string
  readonly version: string
  /** The loopback address unless it says otherwise. */
  readonly host?: string
  readonly port: number
  readonly seat: Seat
  readonly command: readonly string[]
  /** Answers once the server serves, beyond taking connections. */
  readonly isReady?: () => Promise<boolean>
}

const LOOPBACK = '127.0.0.1'
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
export async function startServer(order: ServerOrder): Promise<RunningServer> {
  const { host = LOOPBACK, port, seat } = order
  if (await accepts(host, port))
    throw new Error(`${host}:${port} is in use; stop the other process, or choose another address`)
  const { memoryBytes = null } = seat
  if (memoryBytes === null) return startIn(null, order)
  const memory = await MemoryGroup.make(memoryBytes)
  try {
    return await startIn(memory, order)
  } catch (error) {
    await memory.remove()
    throw error
  }
}

async function startIn(memory: MemoryGroup | null, order: ServerOrder): Promise<RunningServer> {
  const { name, version, host = LOOPBACK, port, seat } = order
  const pinned = seat.cpus === null ? order.command : ['taskset', '-c', seat.cpus, ...order.command]
  const command = [...(memory?.behind ?? []), ...pinned]
  const file = join(seat.dir, `${name}-${port}.log`)
  const output = openSync(file, 'w')
  const child = spawn(command[0]!, command.slice(1), { detached: true, stdio: ['ignore', output, output] })
  closeSync(output)
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', () => resolve())
  })
  if (child.pid === undefined) throw new Error(`${name} cannot be started: ${command[0]} does not run`)
  takeAlong(-child.pid)
  const stop = async (): Promise<void> => {
    await stopped(child, ended)
    await memory?.remove()
  }
  try {
    await serving(order, child)
  } catch (error) {
    await stop()
    throw new Error(`${(error as Error).message}\n${lastLines(file)}`, { cause: error })
  }
  return { name, url: `http://${host}:${port}`, pid: child.pid, version, memory, stop }
}

async function serving(
  { name, host = LOOPBACK, port, isReady }: ServerOrder,
  child: ChildProcess,
): Promise<void> {
  const giveUpMono = performance.now() + START_MS
  while (!((await accepts(host, port)) && (isReady === undefined || (await isReady())))) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${name} ended while it started`)
    if (performance.now() > giveUpMono) throw new Error(`${name} did not serve within ${START_MS / 1000} s`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

async function stopped(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill('SIGTERM')
  const timer = setTimeout(() => killGroup(child.pid!), STOP_MS)
  await ended
  clearTimeout(timer)
  // What the first process has left behind, when it did not end in order.
  killGroup(child.pid!)
  await letGo(-child.pid!)
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, host)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-LAST_LINES).join('\n')
}
