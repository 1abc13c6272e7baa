import type { WorkerDiagnostics } from '../model/summary.js'
import { cpuMicros, openSockets, rssBytes, type Switches, threadSwitches } from './process-use.js'

/** What the kernel says of the use of one process. */
type ProcessUse = Pick<
  WorkerDiagnostics,
  'rssBytes' | 'openSockets' | 'cpuMicros' | 'voluntarySwitches' | 'involuntarySwitches'
>

/** Follows one process: memory and sockets are the largest that were seen, the rest is counted from its beginning. */
export class ProcessWatch {
  readonly #pid: number
  readonly #cpuBefore: number
  readonly #switchesBefore: ReadonlyMap<string, Switches>
  /** By thread, also of those that have ended since. */
  readonly #switches = new Map<string, Switches>()
  #cpu: number
  #rssBytes = 0
  #openSockets = 0

  constructor(pid: number) {
    this.#pid = pid
    this.#cpuBefore = cpuMicros(pid)
    this.#cpu = this.#cpuBefore
    this.#switchesBefore = threadSwitches(pid)
  }

  /** Call it while there is load: of a process that is gone the last look stands. */
  look(): void {
    this.#rssBytes = Math.max(this.#rssBytes, rssBytes(this.#pid))
    this.#openSockets = Math.max(this.#openSockets, openSockets(this.#pid))
    this.#cpu = Math.max(this.#cpu, cpuMicros(this.#pid))
    for (const [thread, switches] of threadSwitches(this.#pid)) this.#switches.set(thread, switches)
  }

  get use(): ProcessUse {
    return {
      rssBytes: this.#rssBytes,
      openSockets: this.#openSockets,
      cpuMicros: this.#cpu - this.#cpuBefore,
      voluntarySwitches: this.#grown('voluntary'),
      involuntarySwitches: this.#grown('involuntary'),
    }
  }

  #grown(kind: keyof Switches): number {
    let sum = 0
    for (const [thread, switches] of this.#switches)
      sum += switches[kind] - (this.#switchesBefore.get(thread)?.[kind] ?? 0)
    return sum
  }
}
