import type { QuickJSContext, QuickJSHandle, QuickJSWASMModule } from 'quickjs-emscripten'
import { type WasmMemory, type WasmTable, webAssembly } from './web-assembly.js'

/** A QuickJS instance with the parts that the gateway needs. */
export interface Instance {
  readonly engine: QuickJSWASMModule
  readonly memory: WasmMemory
  readonly table: WasmTable
}

/** Maximum number of rejection reasons that are kept. All rejections are counted. */
const MAX_REASONS = 8
const WORD_BYTES = 4
/** Number of words of the engine's runtime that are searched for its interrupt handler. */
const RUNTIME_WORDS = 64

/**
 * Counts unhandled promise rejections. QuickJS has a hook for them (JS_SetHostPromiseRejectionTracker), but
 * quickjs-emscripten does not expose it. So the hook is written directly into the QuickJS runtime, after the
 * interrupt handler:
 *
 *     interrupt handler │ opaque │ rejection tracker │ opaque │ list of jobs, which is empty: it refers to itself
 *
 * Setting the interrupt handler reveals the location, and a test rejection verifies it. An engine version with
 * another layout therefore fails on opening, before it runs a script.
 */
export class Rejections {
  readonly #instance: Instance
  readonly #context: QuickJSContext
  /** Rejection reasons by promise. */
  readonly #reasons = new Map<bigint, QuickJSHandle>()
  #count = 0

  /**
   * Installs the tracker.
   * @param setInterruptHandler is called once.
   * @throws Error if the engine does not report rejections
   */
  constructor(instance: Instance, context: QuickJSContext, setInterruptHandler: () => void) {
    this.#instance = instance
    this.#context = context
    const { value: runtime } = (context.runtime as unknown as { readonly rt: { readonly value: number } }).rt
    const before = this.#words(runtime).slice()
    setInterruptHandler()
    const words = this.#words(runtime)
    const at = words.findIndex((word, i) => word !== before[i])
    const jobs = runtime + (at + 4) * WORD_BYTES
    const isThere = at !== -1 && words[at + 2] === 0 && words[at + 3] === 0 && words[at + 4] === jobs
    if (isThere) words[at + 2] = this.#addFunction()
    context.unwrapResult(context.evalCode('Promise.reject(1)')).dispose()
    if (this.#count !== 1) throw new Error('this version of QuickJS does not report rejected promises')
    this.forget()
  }

  #words(runtime: number): Int32Array {
    return new Int32Array(this.#instance.memory.buffer, runtime, RUNTIME_WORDS)
  }

  /** Adds a function to the engine's function table that calls `#note`, and returns its number. */
  #addFunction(): number {
    const note = (_context: number, promise: bigint, reason: bigint, isHandled: number): void =>
      this.#note(promise, reason, isHandled !== 0)
    const { exports } = new webAssembly.Instance(new webAssembly.Module(TRACKER), { e: { f: note } })
    return this.#instance.table.grow(1, exports['f'])
  }

  /** Called by the engine when a promise is rejected without a handler, and again if a handler is added later. */
  #note(promise: bigint, reason: bigint, isHandled: boolean): void {
    this.#count += isHandled ? -1 : 1
    if (isHandled) {
      this.#reasons.get(promise)?.dispose()
      this.#reasons.delete(promise)
    } else if (this.#reasons.size < MAX_REASONS) {
      this.#reasons.get(promise)?.dispose()
      this.#reasons.set(promise, this.#handleOf(reason))
    }
  }

  /** Returns a handle for a value. A handle is a slot in memory that holds the value. */
  #handleOf(value: bigint): QuickJSHandle {
    const slot = this.#context.newNumber(0)
    const swap = (bits: bigint): bigint => {
      // Read every time: growing the memory replaces its buffer.
      const words = new BigInt64Array(this.#instance.memory.buffer, slot.value, 1)
      const before = words[0]!
      words[0] = bits
      return before
    }
    const zero = swap(value)
    const handle = slot.dup()
    swap(zero)
    slot.dispose()
    return handle
  }

  /** True if there is an unhandled rejection. */
  get isAny(): boolean {
    return this.#count > 0
  }

  /** Reason of the first unhandled rejection, or null if it is unknown. */
  get reason(): QuickJSHandle | null {
    return this.#reasons.values().next().value ?? null
  }

  forget(): void {
    this.#count = 0
    for (const reason of this.#reasons.values()) reason.dispose()
    this.#reasons.clear()
  }
}

/**
 * WebAssembly module `(import "e" "f" (func (param i32 i64 i64 i32 i32)))` with export `f`. Function tables accept
 * only WebAssembly functions.
 */
const TRACKER = Uint8Array.from([
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x09, 0x01, 0x60, 0x05, 0x7f, 0x7e, 0x7e, 0x7f, 0x7f, 0x00],
  ...[0x02, 0x07, 0x01, 0x01, 0x65, 0x01, 0x66, 0x00, 0x00],
  ...[0x07, 0x05, 0x01, 0x01, 0x66, 0x00, 0x00],
])
