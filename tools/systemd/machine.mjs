import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ControlGroup } from '../kubernetes/cluster/control-group.mjs'
import { controlGroupObstacle } from '../lib/containers.mjs'

const BOOT = fileURLToPath(new URL('boot.sh', import.meta.url))
const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url))
const NAMESPACES = ['--mount', '--pid', '--net', '--uts', '--ipc', '--cgroup', '--kill-child', '--fork']
/** Joins a control group. Version 1 has one per controller, and `cpuset` needs CPUs first. */
const JOIN = `for group in "/sys/fs/cgroup/$1" /sys/fs/cgroup/*/"$1"; do
  case $group in */cpuset/*) continue ;; esac
  if [ -d "$group" ]; then echo 0 > "$group/cgroup.procs"; fi
done
shift
exec "$@"`
/** Tries to mount the required file systems in a private namespace. */
const OVERLAY =
  'mount -t tmpfs none /mnt && mkdir /mnt/upper /mnt/work /mnt/root && mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work none /mnt/root'
const WAIT_MS = 60_000

/** A container with systemd as its first process, an in-memory file system and a separate network. */
export class Machine {
  #folder
  #group
  #child
  #ended
  #said = ''
  /** Process id of systemd on the host. */
  #first

  /** Starts systemd. Resolves when its services have started. */
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

  /** Runs a shell command in the container. Returns its exit code and output. */
  run(command, input = '') {
    return spawnSync('nsenter', this.#inside(command), { encoding: 'utf8', input, timeout: WAIT_MS })
  }

  /** Runs a command in the background. Resolves to its output. */
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

  /** True once the first process has become systemd. */
  #isSystemd() {
    this.#first = /^\d+(?=\n)/.exec(this.#said)?.[0]
    return this.#first !== undefined && nameOf(this.#first) === 'systemd'
  }
}

/** Returns the reason why this machine cannot run such a container, or null. */
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

/** Returns the name of a process, or null if it has ended. */
function nameOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return null
  }
}
