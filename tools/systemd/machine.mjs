import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { controlGroupObstacle } from '../image/base-folder.mjs'
import { ControlGroup } from '../kubernetes/cluster/control-group.mjs'

const BOOT = fileURLToPath(new URL('boot.sh', import.meta.url))
const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url))
const NAMESPACES = ['--mount', '--pid', '--net', '--uts', '--ipc', '--cgroup', '--kill-child', '--fork']
/** Joins a control group. With version 1 there is one for each controller; that of processors takes none before it has some. */
const JOIN = `for group in "/sys/fs/cgroup/$1" /sys/fs/cgroup/*/"$1"; do
  case $group in */cpuset/*) continue ;; esac
  if [ -d "$group" ]; then echo 0 > "$group/cgroup.procs"; fi
done
shift
exec "$@"`
/** The file systems that it needs, tried where nobody sees them. */
const OVERLAY =
  'mount -t tmpfs none /mnt && mkdir /mnt/upper /mnt/work /mnt/root && mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work none /mnt/root'
const WAIT_MS = 60_000

/** systemd as the first process of a machine within this one, with files of its own in memory and a network of its own. */
export class Machine {
  #folder
  #group
  #child
  #ended
  #said = ''
  /** The process id of systemd, as this machine counts. */
  #first

  /** Resolves when its services have been started. */
  async start() {
    this.#folder = mkdtempSync(join(tmpdir(), 'sluice-machine-'))
    this.#group = new ControlGroup(basename(this.#folder))
    this.#group.create()
    const enter = ['sh', '-ec', JOIN, 'sh', basename(this.#folder)]
    const boot = ['sh', BOOT, this.#folder, REPOSITORY, process.execPath]
    this.#child = spawn('setpriv', ['--pdeathsig', 'KILL', ...enter, 'unshare', ...NAMESPACES, ...boot])
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream.setEncoding('utf8').on('data', (said) => {
        this.#said += said
      })
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve))
    await this.until(() => this.#isSystemd() && this.run('systemctl is-system-running --wait').status === 0)
  }

  /** Runs a command of a shell within it. Answers with its exit code, and what it printed. */
  run(command, input = '') {
    return spawnSync('nsenter', this.#inside(command), { encoding: 'utf8', input, timeout: WAIT_MS })
  }

  /** The same without waiting for it: resolves to what it printed. */
  async runAside(command) {
    const { stdout } = spawn('nsenter', this.#inside(command), { stdio: ['ignore', 'pipe', 'ignore'] })
    return text(stdout)
  }

  async until(condition) {
    const endMono = performance.now() + WAIT_MS
    while (!(await condition())) {
      if (this.#child.exitCode !== null) throw new Error(`systemd has ended: ${this.#said}`)
      if (performance.now() > endMono) throw new Error(`not so after ${WAIT_MS} ms: ${condition}`)
      await sleep(50)
    }
  }

  async end() {
    this.#child?.kill('SIGKILL')
    await this.#ended
    await this.#group.remove()
    rmdirSync(this.#folder)
  }

  #inside(command) {
    return [`--target=${this.#first}`, '--all', 'sh', '-c', command]
  }

  /** What boots says which process it is, and becomes systemd. */
  #isSystemd() {
    this.#first = /^\d+(?=\n)/.exec(this.#said)?.[0]
    return this.#first !== undefined && nameOf(this.#first) === 'systemd'
  }
}

/** Why none can be started, whatever is installed on this machine. */
export function machineObstacle() {
  if (process.platform !== 'linux') return 'systemd needs Linux'
  if (process.getuid() !== 0) return 'systemd in the tests needs root; run npm test as root'
  const { status, stderr, error } = spawnSync('unshare', [...NAMESPACES, 'sh', '-c', OVERLAY], {
    encoding: 'utf8',
  })
  if (spawnSync('systemctl', ['--version']).error !== undefined)
    return 'systemd is not installed; on Debian: apt-get install systemd'
  if (status !== 0) return `this machine allows no namespaces (${error?.message ?? stderr.trim()})`
  return controlGroupObstacle()
}

/** Null: it has ended. */
function nameOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return null
  }
}
