import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TemporaryFolder, temporaryGroup } from '../last-will.js'
import { groupLimits } from '../measure/control-group.js'
import { systemText } from '../measure/system-file.js'
import { memoryHome } from './memory-home.js'

/** The shell's name is the group's list of processes, all else the command: it is in the group before it begins. */
const ENTER = 'echo $$ > "$0" && exec "$@"'
const PROBE_BYTES = 64 * 1024 ** 2
const PROBE_MS = 10_000
const REMEDY =
  'run it as root, or in a group that this user may divide (systemd-run --user --scope gw bench …); in a container the control groups have to be writable'

/** A control group of processes that may use so much memory together, and what became of them. */
export class MemoryGroup {
  readonly limitBytes: number
  /** What a command is put behind to begin in it. */
  readonly behind: readonly string[]
  readonly #folder: TemporaryFolder
  #toldKills = 0

  private constructor(folder: TemporaryFolder, limitBytes: number) {
    this.limitBytes = limitBytes
    this.behind = behind(folder.path)
    this.#folder = folder
  }

  /** What is around us may allow less than is wished, and holds then. @throws Error where the system does not let us */
  static async make(wishedBytes: number): Promise<MemoryGroup> {
    const limitBytes = Math.min(wishedBytes, groupLimits().memoryBytes ?? wishedBytes)
    const folder = temporaryGroup(newPath())
    try {
      limitMemory(folder.path, limitBytes)
    } catch (error) {
      await folder.remove()
      throw error
    }
    return new MemoryGroup(folder, limitBytes)
  }

  /** The most that was used at once, file cache and what the kernel holds for it included; null: the system does not tell. */
  peakBytes(): number | null {
    return peakOf(this.#folder.path)
  }

  /** How many processes in it the kernel has ended for want of memory since this was last asked. */
  takeKills(): number {
    const kills = killsIn(this.#folder.path)
    const since = kills - this.#toldKills
    this.#toldKills = kills
    return since
  }

  /** Once nobody is in it. */
  remove(): Promise<void> {
    return this.#folder.remove()
  }
}

/** Why no limit of memory can be set on this system, and what to do; null when it can. */
export function missingMemoryGroups(): string | null {
  try {
    const folder = newPath()
    mkdirSync(folder)
    try {
      limitMemory(folder, PROBE_BYTES)
      enter(folder)
    } finally {
      rmdirSync(folder)
    }
    return null
  } catch (error) {
    return `no group of processes with a limit of memory can be made (${(error as Error).message}); ${REMEDY}`
  }
}

/** Swap is memory as well: what does not fit is to fail, not to be slow. */
export function limitMemory(folder: string, bytes: number): void {
  const set = (name: string, value: number): void => writeFileSync(join(folder, name), String(value))
  if (existsSync(join(folder, 'memory.max'))) {
    set('memory.max', bytes)
    if (existsSync(join(folder, 'memory.swap.max'))) set('memory.swap.max', 0)
    return
  }
  set('memory.limit_in_bytes', bytes)
  // Of both together, and never less than of memory alone, so that it comes second.
  if (existsSync(join(folder, 'memory.memsw.limit_in_bytes'))) set('memory.memsw.limit_in_bytes', bytes)
}

/** The largest use of a group; null: the system does not tell. */
export function peakOf(folder: string): number | null {
  const text = systemText(`${folder}/memory.peak`) ?? systemText(`${folder}/memory.max_usage_in_bytes`)
  return text === null ? null : Number(text)
}

/** The processes of a group that the kernel has ended for want of memory. */
export function killsIn(folder: string): number {
  const text = systemText(`${folder}/memory.events`) ?? systemText(`${folder}/memory.oom_control`) ?? ''
  return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0)
}

function newPath(): string {
  return join(memoryHome(), `sluice-bench-${randomBytes(6).toString('hex')}`)
}

function behind(folder: string): readonly string[] {
  return ['sh', '-c', ENTER, join(folder, 'cgroup.procs')]
}

function enter(folder: string): void {
  const [shell, ...words] = behind(folder)
  const { status, stderr, error } = spawnSync(shell!, [...words, 'true'], {
    encoding: 'utf8',
    timeout: PROBE_MS,
  })
  if (status !== 0) throw error ?? new Error(stderr.trim())
}
