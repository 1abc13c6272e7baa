import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { StatePlan } from '@sluice/config'
import { until } from '../../testing/gateway.js'
import { closedPort } from '../../testing/origin.js'
import { ValkeyStore } from '../valkey/valkey-store.js'

const isThere = spawnSync('redis-server', ['--version']).error === undefined

/**
 * Reason to skip tests that need a server; false if it is installed, or in CI, where its absence is a
 * failure.
 */
export const redisSkip =
  isThere || process.env['CI'] === 'true'
    ? false
    : 'redis-server is not installed (apt-get install redis-server)'

/** Returns the plan of a store on a local port. */
export function statePlanOf(port: number, overrides: Partial<StatePlan> = {}): StatePlan {
  return {
    url: `redis://127.0.0.1:${port}`,
    cluster: [],
    username: null,
    password: null,
    keyPrefix: 'test:',
    timeoutMs: 5000,
    tls: { caFile: null, servername: null, insecure: false },
    ...overrides,
  }
}

/** Opens a store and records its events. It is closed after the test. */
export function openStore(t: TestContext, plan: StatePlan) {
  const events: string[] = []
  const report = (event: string, { problem = '' }: Readonly<Record<string, unknown>>): void =>
    void events.push(`${event} ${problem}`.trim())
  const store = new ValkeyStore({ plan, report })
  t.after(() => store.close())
  return { store, events, isUp: () => until(() => store.problem === null) }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

/** A real server without persistence on its own port. It is killed after the test. */
export class RedisServer {
  readonly port: number
  readonly #dir: string
  readonly #args: readonly string[]
  #process: ChildProcess | null = null

  private constructor(port: number, dir: string, args: readonly string[]) {
    this.port = port
    this.#dir = dir
    this.#args = args
  }

  static async start(t: Pick<TestContext, 'after'>, args: readonly string[] = []): Promise<RedisServer> {
    const dir = mkdtempSync(join(tmpdir(), 'sluice-redis-'))
    const server = new RedisServer(await closedPort(), dir, args)
    t.after(async () => {
      await server.kill()
      rmSync(dir, { recursive: true, force: true })
    })
    server.run()
    await until(() => accepts(server.port))
    return server
  }

  /** Starts or restarts the server, empty. */
  run(): void {
    const own = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.#dir]
    const args = [...own, '--save', '', '--appendonly', 'no', ...this.#args]
    this.#process = spawn('redis-server', args, { stdio: 'ignore' })
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(name)
  }

  async kill(): Promise<void> {
    const process = this.#process
    this.#process = null
    if (process === null || process.exitCode !== null) return
    const ended = new Promise((resolve) => process.once('exit', resolve))
    process.kill('SIGKILL')
    await ended
  }

  /** Runs a command with redis-cli. */
  cli(...args: string[]): string {
    return spawnSync('redis-cli', ['-p', String(this.port), ...args], { encoding: 'utf8' }).stdout.trim()
  }

  /** Sends several commands, one per line. */
  commands(lines: readonly string[]): void {
    spawnSync('redis-cli', ['-p', String(this.port)], { input: lines.join('\n') })
  }
}
