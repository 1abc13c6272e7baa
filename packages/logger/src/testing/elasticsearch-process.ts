import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ElasticsearchFiles } from './elasticsearch-files.js'
import { serverCommand } from './elasticsearch-user.js'

const STOP_MS = 30_000
const SHOWN_LINES = 30
const LOWEST_PRIORITY = '19'

/**
 * A server that was launched by its own script, whether it answers or not. The script's program stays beside the
 * server, hands it its settings, ends it when it is asked to end, and ends after it; so the end of this program is
 * the server's, and the pid of the server is in a file.
 */
export class ElasticsearchProcess {
  readonly #launcher: ChildProcess
  readonly #ended: Promise<void>
  readonly #pidFile: string
  readonly #console: string

  /**
   * @param standsAside it gets only the processor time that others leave.
   * @param cpus the cores it is kept on, as taskset writes them; null: all.
   */
  constructor(
    home: string,
    { config, logs, tmp }: ElasticsearchFiles,
    { standsAside, cpus }: { readonly standsAside: boolean; readonly cpus: string | null },
  ) {
    this.#pidFile = join(tmp, 'pid')
    this.#console = join(logs, 'console.log')
    rmSync(this.#pidFile, { force: true })
    const priority = standsAside ? ['nice', '-n', LOWEST_PRIORITY] : []
    const server = [...serverCommand(), join(home, 'bin', 'elasticsearch'), '-p', this.#pidFile]
    const pinned = cpus === null ? [] : ['taskset', '-c', cpus]
    const [command, ...args] = [...pinned, ...priority, ...server]
    const { PATH } = process.env
    const env = { PATH, HOME: tmp, ES_JAVA_HOME: javaHome(), ES_PATH_CONF: config, ES_TMPDIR: tmp }
    const output = openSync(this.#console, 'w')
    const stdio: StdioOptions = ['ignore', output, output]
    this.#launcher = spawn(command!, args, { cwd: tmp, stdio, env, detached: standsAside })
    closeSync(output)
    if (standsAside) lowerGroup(this.#launcher.pid)
    this.#ended = new Promise((resolve) => {
      this.#launcher.once('exit', () => resolve())
      this.#launcher.once('error', () => resolve())
    })
  }

  /** The server itself. @throws Error before it has begun to run, or when it has ended in order */
  pid(): number {
    return Number(readFileSync(this.#pidFile, 'utf8'))
  }

  hasEnded(): boolean {
    const { pid, exitCode, signalCode } = this.#launcher
    return pid === undefined || exitCode !== null || signalCode !== null
  }

  /** The last lines that the server has printed. */
  logTail(): string {
    return readFileSync(this.#console, 'utf8').trimEnd().split('\n').slice(-SHOWN_LINES).join('\n')
  }

  /** Sends a signal to the server and answers whether it was there. */
  signal(name: NodeJS.Signals): boolean {
    try {
      return !this.hasEnded() && process.kill(this.pid(), name)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT' && code !== 'ESRCH') throw error
      return false
    }
  }

  /** Ends the server in order, or by force when it takes too long. */
  async stop(): Promise<void> {
    if (this.hasEnded()) return
    this.signal('SIGCONT')
    this.#launcher.kill('SIGTERM')
    const tooLate = setTimeout(() => void this.kill(), STOP_MS)
    await this.#ended
    clearTimeout(tooLate)
  }

  /** Without its launcher, a server that has not written its pid yet ends by itself. */
  async kill(): Promise<void> {
    if (!this.signal('SIGKILL')) this.#launcher.kill('SIGKILL')
    await this.#ended
  }
}

/** Where the kernel divides time among sessions, a priority counts only within its own (sched(7), autogroup). */
function lowerGroup(pid: number | undefined): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, LOWEST_PRIORITY)
  } catch {
    // The kernel knows no groups, or the server is gone already, which is reported when nobody answers.
  }
}

/** The command may be a link of a link, and the server wants the folder it leads to. */
function javaHome(): string {
  const { stdout } = spawnSync('sh', ['-c', 'readlink -f "$(command -v java)"'], { encoding: 'utf8' })
  return dirname(dirname(stdout.trim()))
}
