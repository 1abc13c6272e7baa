import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { closedPort } from '@sluice/core/testing'

const programs = process.env['SLUICE_POSTGRES']
/** User that runs the server in tests of root, which it refuses to run as. */
const NOBODY = 65_534

/** Option `skip` of tests with PostgreSQL: the reason if it is not installed, otherwise false. */
export const postgresSkip: string | false =
  programs === undefined && 'no PostgreSQL; use npm test, or npm run services and the variable that it prints'

/** A PostgreSQL server with its own data on a loopback port. It is killed after the test. */
export class PostgresServer {
  readonly port: number
  readonly #folder: string
  #process: ChildProcess | null = null
  #databases = 0

  private constructor(folder: string, port: number) {
    this.#folder = folder
    this.port = port
  }

  static async start(t: Pick<TestContext, 'after'>): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-postgres-'))
    if (process.getuid?.() === 0) chownSync(folder, NOBODY, NOBODY)
    const server = new PostgresServer(folder, await closedPort())
    t.after(async () => {
      await server.kill()
      rmSync(folder, { recursive: true, force: true })
    })
    const options = ['--no-sync', '--auth=trust', '--username=sluice', '--encoding=UTF8', '--no-locale']
    const [command, ...args] = server.#command('initdb', ['-D', join(folder, 'data'), ...options])
    const { status, stderr } = spawnSync(command!, args, { encoding: 'utf8', cwd: folder })
    if (status !== 0) throw new Error(`initdb failed: ${stderr}`)
    await server.run()
    return server
  }

  /** Starts or restarts the server with the same data. */
  async run(): Promise<void> {
    const settings = [
      'fsync=off',
      'unix_socket_directories=',
      'listen_addresses=127.0.0.1',
      `port=${this.port}`,
    ]
    const options = settings.flatMap((setting) => ['-c', setting])
    const [command, ...args] = this.#command('postgres', ['-D', join(this.#folder, 'data'), ...options])
    for (let tries = 0; tries < 100; tries++) {
      const server = spawn(command!, args, { stdio: 'ignore', cwd: this.#folder })
      this.#process = server
      while (server.exitCode === null) {
        if (await accepts(this.port)) return
        await sleep(20)
      }
      // It refuses to start while child processes of a killed server still run.
      await sleep(100)
    }
    throw new Error('postgres does not start')
  }

  /** Kills the server like a power failure. */
  async kill(): Promise<void> {
    const server = this.#process
    this.#process = null
    if (server === null || server.exitCode !== null || server.signalCode !== null) return
    const ended = new Promise((resolve) => server.once('exit', resolve))
    // Its child processes end when they see that it is gone.
    server.kill('SIGKILL')
    await ended
  }

  /** Creates a database. Returns its URL. */
  async database(): Promise<string> {
    const { Client } = await import('pg')
    const name = `test${++this.#databases}`
    for (;;) {
      const client = new Client({ connectionString: `postgres://sluice@127.0.0.1:${this.port}/postgres` })
      client.on('error', () => {})
      try {
        await client.connect()
        await client.query(`create database ${name}`)
        return `postgres://sluice@127.0.0.1:${this.port}/${name}`
      } catch (error) {
        // The server refuses connections while it recovers.
        if ((error as { readonly code?: string }).code !== '57P03') throw error
        await sleep(20)
      } finally {
        await client.end().catch(() => {})
      }
    }
  }

  #command(program: string, args: readonly string[]): string[] {
    const command = [join(programs!, program), ...args]
    const user = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
    return process.getuid?.() === 0 ? ['setpriv', ...user, ...command] : command
  }
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
