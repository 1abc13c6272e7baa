import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ElasticsearchFiles } from './elasticsearch-files.js'
import { serverCommand } from './elasticsearch-user.js'

const STOP_MS = 30_000
const SHOWN_LINES = 30
const LOWEST_PRIORITY = '19'

/**
 * A server started by its launcher script, whether it responds or not. The launcher passes the settings to
 * the server, stops it on request, and exits after it. The exit of the launcher is thus that of the server,
 * whose process ID is in a file.
 */
export class ElasticsearchProcess {
  readonly #launcher: ChildProcess
  readonly #ended: Promise<void>
  readonly #pidFile: string
  readonly #console: string

  /**
   * @param standsAside True to use only CPU time that other processes leave.
   * @param cpus CPU cores in the format of taskset, or null for all.
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
    const java = { ES_JAVA_HOME: javaHome(), CLI_JAVA_OPTS: '-XX:TieredStopAtLevel=1' }
    const env = { PATH, HOME: tmp, ...java, ES_PATH_CONF: config, ES_TMPDIR: tmp }
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

  /** Process ID of the server. @throws Error before the server has started or after it has stopped. */
  pid(): number {
    return Number(readFileSync(this.#pidFile, 'utf8'))
  }

  hasEnded(): boolean {
    const { pid, exitCode, signalCode } = this.#launcher
    return pid === undefined || exitCode !== null || signalCode !== null
  }

  /** Last lines of the server's output. */
  logTail(): string {
    return readFileSync(this.#console, 'utf8').trimEnd().split('\n').slice(-SHOWN_LINES).join('\n')
  }

  /** Sends a signal to the server. Returns false if it is not running. */
  signal(name: NodeJS.Signals): boolean {
    try {
      return !this.hasEnded() && process.kill(this.pid(), name)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT' && code !== 'ESRCH') throw error
      return false
    }
  }

  /** Stops the server, by force if it takes too long. */
  async stop(): Promise<void> {
    if (this.hasEnded()) return
    this.signal('SIGCONT')
    this.#launcher.kill('SIGTERM')
    const tooLate = setTimeout(() => void this.kill(), STOP_MS)
    await this.#ended
    clearTimeout(tooLate)
  }

  /** Kills the server. A server that has not written its process ID yet ends when its launcher is killed. */
  async kill(): Promise<void> {
    if (!this.signal('SIGKILL')) this.#launcher.kill('SIGKILL')
    await this.#ended
  }
}

/**
 * Lowers the priority of the process's session, because with autogroup scheduling a nice value only counts
 * within its session (sched(7)).
 */
function lowerGroup(pid: number | undefined): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, LOWEST_PRIORITY)
  } catch {
    // The kernel has no autogroups, or the server has ended, which is reported when it does not respond.
  }
}

/** Resolves the links of the java command, because the server needs the directory of the JDK. */
function javaHome(): string {
  const { stdout } = spawnSync('sh', ['-c', 'readlink -f "$(command -v java)"'], { encoding: 'utf8' })
  return dirname(dirname(stdout.trim()))
}
