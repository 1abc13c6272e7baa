import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

export { closedPort } from '@sluice/core/testing'

const GW = fileURLToPath(new URL('../bin/gw.mjs', import.meta.url))

/** Exit code and output of a `gw` command. */
export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A running `gw` process and its output so far. */
export interface GwProcess {
  readonly process: ChildProcessWithoutNullStreams
  readonly exited: Promise<number | null>
  stdout(): string
  stderr(): string
}

interface GwOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Program to run instead of `gw`. */
  readonly entry?: string
  /** Path of the Node.js binary; default: that of the tests. */
  readonly node?: string
  /** Time after which the process is killed, in milliseconds. */
  readonly timeout?: number
}

/** Starts the real `gw` and kills it after the test. */
export function spawnGw(t: TestContext, args: readonly string[], options: GwOptions = {}): GwProcess {
  const running = launch(args, options)
  t.after(async () => {
    killGroup(running.process)
    await running.exited
  })
  return running
}

/** Kills a process group. Supervisor and workers would otherwise keep running for a minute. */
export function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid ?? 0), 'SIGKILL')
  } catch {
    // The group no longer exists.
  }
}

function launch(
  args: readonly string[],
  { env, cwd, timeout, entry = GW, node = process.execPath }: GwOptions,
): GwProcess {
  const child = spawn(node, [entry, ...args], {
    env: { ...process.env, NO_COLOR: '1', ...env },
    cwd,
    timeout,
    // Creates a process group, so that killGroup reaches child processes.
    detached: true,
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { process: child, exited, stdout: () => stdout, stderr: () => stderr }
}

/** Runs the real `gw` and waits until it exits, 30 s by default. */
export async function gw(
  args: readonly string[],
  { stdin = '', ...options }: GwOptions & { readonly stdin?: string } = {},
): Promise<Outcome> {
  const running = launch(args, { timeout: 30_000, ...options })
  running.process.stdin.end(stdin)
  const code = await running.exited
  return { code, stdout: running.stdout(), stderr: running.stderr() }
}

/** Creates a directory that is removed after the test. */
export function scratch(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'gw-cli-'))
  const remove = (): void => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  t.after(() => {
    try {
      remove()
    } catch {
      // A gateway that a later hook stops still writes there.
      process.once('exit', remove)
    }
  })
  return dir
}

/** Writes a file to a new directory and returns its path. */
export function fileWith(t: TestContext, text: string, name = 'gateway.yaml'): string {
  const file = join(scratch(t), name)
  writeFileSync(file, text)
  return file
}

/** A gateway process under test. */
export interface RunningGateway {
  readonly url: string
  readonly admin: string
  readonly process: ChildProcess
  readonly config: string
  readonly exited: Promise<number | null>
  /** Standard output, which contains the addresses. */
  outputText(): string
  logText(): string
}

/** Starts the real gateway with a document whose ports are 0. It is killed after the test. */
export async function startGateway(
  t: TestContext,
  document: string,
  args: readonly string[] = [],
  options: GwOptions = {},
): Promise<RunningGateway> {
  const config = fileWith(t, document)
  const { process: child, exited, stdout, stderr } = spawnGw(t, startArgs(t, config, ...args), options)
  await until(() => stdout().includes('admin API on') || child.exitCode !== null, stderr)
  if (child.exitCode !== null) throw new Error(`the gateway did not start: ${stderr()}`)
  const url = /listening on (\S+)/.exec(stdout())?.[1] ?? ''
  const admin = /admin API on (\S+)/.exec(stdout())?.[1] ?? ''
  return { url, admin, process: child, config, exited, outputText: stdout, logText: stderr }
}

/** Returns the arguments that start a gateway with a data directory of the test. */
export function startArgs(t: TestContext, config: string, ...more: readonly string[]): string[] {
  return ['start', '-c', config, '--data-dir', scratch(t), ...more]
}

/** Part of the gateway's status. */
export interface Status {
  readonly digest: string
  readonly workers: readonly {
    readonly id: number
    readonly pid: number | null
    readonly state: string
    readonly inFlight: number
  }[]
}

/** Returns the gateway's status from the admin API. */
export async function statusOf(admin: string): Promise<Status> {
  return (await (await fetch(`${admin}/v1/status`)).json()) as Status
}

/** Starts an HTTP origin that is closed after the test and returns its URL. */
export async function origin(t: TestContext, handler: http.RequestListener): Promise<string> {
  const server = http.createServer(handler)
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Returns a document with one route to one target. */
export function documentFor(target: string, more = ''): string {
  return `version: 1
listeners: [{ address: "127.0.0.1:0", health: true, limits: { bodyBytes: 4gb } }]
admin: { address: "127.0.0.1:0" }
workers: 1
upstreams:
  up: { targets: ["${target}"], timeouts: { total: 10m } }
routes:
  - id: all
    match: { path: /* }
    upstream: up
log: { sink: none }
${more}`
}

/** Returns the resident memory of a process in bytes. */
export function rssOf(pid: number): number {
  const pages = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]
  return Number(pages) * 4096
}

/** Longest wait in milliseconds; enough for a machine at a load of 20. */
const PATIENCE_MS = 300_000

/** Waits until the condition holds. @throws Error with the context after five minutes */
export async function until(
  condition: () => boolean | Promise<boolean>,
  context: () => string = () => '',
): Promise<void> {
  const giveUpMono = performance.now() + PATIENCE_MS
  while (!(await condition())) {
    if (performance.now() > giveUpMono)
      throw new Error(`the condition did not hold within ${PATIENCE_MS} ms ${context()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Handle of a continuous load on persistent and new connections. */
export interface LoadHandle {
  readonly sent: () => number
  readonly failures: () => readonly string[]
  stop(): Promise<void>
}

/** Sends requests to a URL in `clients` loops. Every second loop opens a new connection for each request. */
export function startLoad(url: string, clients: number): LoadHandle {
  const agent = new http.Agent({ keepAlive: true })
  const failures: string[] = []
  let sent = 0
  let isOver = false
  const loop = async (isFresh: boolean): Promise<void> => {
    while (!isOver) {
      sent++
      const result = await call(url, isFresh ? false : agent)
      if (result !== '200') failures.push(result)
    }
  }
  const loops = Array.from({ length: clients }, (_, i) => loop(i % 2 === 1))
  const stop = async (): Promise<void> => {
    isOver = true
    await Promise.all(loops)
    agent.destroy()
  }
  return { sent: () => sent, failures: () => failures, stop }
}

function call(url: string, agent: http.Agent | false): Promise<string> {
  return new Promise((resolve) => {
    const request = http.get(url, { agent }, (res) => {
      res.resume()
      res.on('end', () => resolve(String(res.statusCode)))
      res.on('error', (error) => resolve(error.message))
    })
    request.on('error', (error) => resolve(error.message))
  })
}
