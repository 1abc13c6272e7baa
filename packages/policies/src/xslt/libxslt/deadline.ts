import { Worker } from 'node:worker_threads'
import type { WasmMemory } from './web-assembly.js'

/** What a runaway transformation ends with. */
export class TimeIsOver extends Error {}

/** Fields of the state that a deadline shares with the watchdog. */
export const STATE = { run: 0, timeoutMs: 1, isOver: 2, length: 3 } as const

/** What the watchdog is told: to watch an instance from now on, or no more. */
export type WatchdogOrder =
  | { readonly kind: 'watch'; readonly id: number; readonly state: Int32Array; readonly memory: WasmMemory }
  | { readonly kind: 'forget'; readonly id: number }

let watchdog: Worker | null = null
let nextId = 1

/**
 * The time limit of one instance of libxslt, which runs synchronously and knows none itself.
 *
 *     this thread   run = odd ───── transformation ─────────► throws, and the instance is thrown away
 *     watchdog      looks every 25 ms: the same odd number for longer than the limit? ─► overwrites the memory
 *
 * The memory of the instance is shared between threads. Overwritten, its next step follows a pointer that leads
 * nowhere, and WebAssembly stops it: nothing outside the instance can be harmed. A run costs two atomic stores.
 */
export class Deadline {
  readonly #state = new Int32Array(new SharedArrayBuffer(4 * STATE.length))
  readonly #id = nextId++
  #run = 0

  /** Begins to watch an instance. */
  watch(memory: WasmMemory): void {
    tell({ kind: 'watch', id: this.#id, state: this.#state, memory })
  }

  /** A run begins. */
  begin(timeoutMs: number): void {
    this.#state[STATE.timeoutMs] = timeoutMs
    Atomics.store(this.#state, STATE.run, ++this.#run)
  }

  /** The run has ended, one way or the other. */
  end(): void {
    Atomics.store(this.#state, STATE.run, ++this.#run)
  }

  /** Whether a run took too long: the instance cannot be used any more. */
  get isOver(): boolean {
    return Atomics.load(this.#state, STATE.isOver) !== 0
  }

  /** @throws TimeIsOver when a run took too long */
  check(): void {
    if (this.isOver) throw new TimeIsOver('the transformation takes too long')
  }

  close(): void {
    tell({ kind: 'forget', id: this.#id })
  }
}

/** One watchdog for all instances of a thread; it holds no process open. */
function tell(order: WatchdogOrder): void {
  if (watchdog === null) {
    watchdog = new Worker(new URL('./watchdog.js', import.meta.url), {
      name: 'xslt-watchdog',
      // It sees nothing of the environment or of the arguments, and needs almost no memory.
      env: {},
      argv: [],
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
    })
    watchdog.unref()
  }
  watchdog.postMessage(order)
}
