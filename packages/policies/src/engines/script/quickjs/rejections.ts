import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten'
import { type WasmMemory, type WasmTable, webAssembly } from './web-assembly.js'

/** What the engine runs in, as far as it is needed to hear of rejections. */
export interface EngineParts {
  readonly memory: WasmMemory
  readonly table: WasmTable
}

/** Reasons that are kept for the operator; all rejections are counted. */
const MAX_REASONS = 8
const WORD_BYTES = 4
/** Words of the engine's runtime in which its interrupt handler is looked for. */
const RUNTIME_WORDS = 64

/**
 * Counts rejected promises that nothing handles. QuickJS has a hook for that (JS_SetHostPromiseRejectionTracker), which
 * quickjs-emscripten does not pass on. It is set where QuickJS keeps it, in its runtime right after the interrupt
 * handler:
 *
 *     interrupt handler │ opaque │ rejection tracker │ opaque │ list of jobs, which is empty: it refers to itself
 *
 * The slot is found by what setting the interrupt handler changes, and a rejection is tried: another version of the
 * engine that keeps it elsewhere is refused when it is opened, and not found out by a script.
 */
export class Rejections {
  readonly #parts: EngineParts
  readonly #context: QuickJSContext
  /** By the promise. */
  readonly #reasons = new Map<bigint, QuickJSHandle>()
  #count = 0

  /** @param setInterruptHandler is called once. @throws Error when the engine does not report rejections */
  constructor(parts: EngineParts, context: QuickJSContext, setInterruptHandler: () => void) {
    this.#parts = parts
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
    return new Int32Array(this.#parts.memory.buffer, runtime, RUNTIME_WORDS)
  }

  /** The number of a function by which the engine can call `#note`. */
  #addFunction(): number {
    const note = (_context: number, promise: bigint, reason: bigint, isHandled: number): void =>
      this.#note(promise, reason, isHandled !== 0)
    const { exports } = new webAssembly.Instance(new webAssembly.Module(TRACKER), { e: { f: note } })
    return this.#parts.table.grow(1, exports['f'])
  }

  /** The engine reports a rejection when nothing handles it yet, and again when something does. */
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

  /** A handle is a slot in memory that holds the value. */
  #handleOf(value: bigint): QuickJSHandle {
    const slot = this.#context.newNumber(0)
    const swap = (bits: bigint): bigint => {
      // The memory may have grown, which makes another buffer of it.
      const words = new BigInt64Array(this.#parts.memory.buffer, slot.value, 1)
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

  /** Whether a promise was rejected that nothing handles. */
  get isAny(): boolean {
    return this.#count > 0
  }

  /** Why the first of them was rejected; null where that is not known. */
  get reason(): QuickJSHandle | null {
    return this.#reasons.values().next().value ?? null
  }

  forget(): void {
    this.#count = 0
    for (const reason of this.#reasons.values()) reason.dispose()
    this.#reasons.clear()
  }
}

/** `(import "e" "f" (func (param i32 i64 i64 i32 i32)))`, exported as `f`: only such functions stand in tables. */
const TRACKER = Uint8Array.from([
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x09, 0x01, 0x60, 0x05, 0x7f, 0x7e, 0x7e, 0x7f, 0x7f, 0x00],
  ...[0x02, 0x07, 0x01, 0x01, 0x65, 0x01, 0x66, 0x00, 0x00],
  ...[0x07, 0x05, 0x01, 0x01, 0x66, 0x00, 0x00],
])
