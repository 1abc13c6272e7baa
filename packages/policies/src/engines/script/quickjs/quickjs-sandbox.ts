import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from 'quickjs-emscripten'
import { runWithTimeout, TimeLimitExceeded } from '../../deadline/run-with-timeout.js'
import { answerText, faultOf } from '../answer.js'
import { Deadline } from '../deadline.js'
import {
  type FaultKind,
  type HookName,
  MAX_JOBS,
  type Program,
  type Sandbox,
  SCRIPT_NAME,
  ScriptFault,
  TOO_LONG,
} from '../engine.js'
import { RUNTIME_SOURCE } from '../sandbox/runtime.js'
import { type Instance, Rejections } from './rejections.js'

/**
 * Time after the script's timeout at which the whole engine is stopped, in milliseconds. QuickJS checks the timeout
 * between instructions only. A single instruction, such as `new Array(2 ** 32 - 1).indexOf(1)`, can run for hours.
 */
const GRACE_MS = 250
/** Time limit for loading a script. It is longer because loading runs once, with cold engine code. */
const LOAD_TIMEOUT_MS = 1000

/** A script in an instance of QuickJS. */
export class QuickjsSandbox implements Sandbox {
  readonly exported: readonly string[]
  isBroken = false
  readonly #runtime: QuickJSRuntime
  readonly #context: QuickJSContext
  readonly #start: QuickJSHandle
  readonly #finish: QuickJSHandle
  readonly #describe: QuickJSHandle
  readonly #rejections: Rejections
  readonly #timeoutMs: number
  #deadline = new Deadline(LOAD_TIMEOUT_MS)

  constructor(instance: Instance, { source, limits }: Program) {
    this.#timeoutMs = limits.timeoutMs
    this.#runtime = instance.engine.newRuntime()
    this.#runtime.setMaxStackSize(limits.stackBytes)
    this.#context = this.#runtime.newContext()
    this.#deadline.start()
    this.#rejections = new Rejections(instance, this.#context, () => {
      this.#runtime.setInterruptHandler(() => this.#deadline.check())
    })
    const bridge = this.#value(this.#context.evalCode(RUNTIME_SOURCE, 'runtime'))
    this.#start = this.#context.getProp(bridge, 'start')
    this.#finish = this.#context.getProp(bridge, 'finish')
    this.#describe = this.#context.getProp(bridge, 'describe')
    this.#runtime.setMemoryLimit(limits.memoryBytes)
    this.exported = this.#guarded(LOAD_TIMEOUT_MS, () => this.#load(bridge, source))
    this.#deadline = new Deadline(limits.timeoutMs)
  }

  #load(bridge: QuickJSHandle, source: string): string[] {
    const context = this.#context
    const module = this.#value(context.evalCode(source, SCRIPT_NAME, { type: 'module' }))
    const namespace = this.#loaded(module)
    this.#assertHandled()
    const load = context.getProp(bridge, 'load')
    const names = context.getString(this.#value(context.callFunction(load, context.undefined, namespace)))
    return names === '' ? [] : names.split(' ')
  }

  /** Returns the exports of a module. A module with top-level `await` evaluates to a promise. */
  #loaded(module: QuickJSHandle): QuickJSHandle {
    this.#runJobs()
    const state = this.#context.getPromiseState(module)
    if (state.type === 'fulfilled') return state.value
    if (state.type === 'rejected') throw this.#thrown(state.error)
    throw new ScriptFault('promise', 'the script awaits a promise while it is loaded')
  }

  call(hook: HookName, input: string, body: string, factor: number): string {
    this.#deadline.start()
    return this.#guarded(this.#timeoutMs * factor, () => {
      const context = this.#context
      const args = [context.newString(hook), context.newString(input), context.newString(body)]
      this.#value(context.callFunction(this.#start, context.undefined, ...args)).dispose()
      for (const arg of args) arg.dispose()
      this.#runJobs()
      // A promise swallows the interruption of its callback.
      if (this.#deadline.isPast) throw timeoutFault()
      const text = answerText(this.#text(context.callFunction(this.#finish, context.undefined)))
      this.#assertHandled()
      return text
    })
  }

  /** Fails the call if a rejected promise was never handled. */
  #assertHandled(): void {
    if (!this.#rejections.isAny) return
    const { reason } = this.#rejections
    if (reason === null) throw new ScriptFault('promise', 'unhandled promise rejection')
    answerText(this.#text(this.#context.callFunction(this.#describe, this.#context.undefined, reason)))
  }

  /** Runs engine code. Any error other than a ScriptFault comes from the engine itself, which is broken then. */
  #guarded<T>(timeoutMs: number, work: () => T): T {
    this.#rejections.forget()
    try {
      return runWithTimeout(timeoutMs + GRACE_MS, work)
    } catch (error) {
      if (!(error instanceof ScriptFault)) {
        this.isBroken = true
        throw error instanceof TimeLimitExceeded ? error : engineFault(error)
      }
      this.isBroken ||= error.kind === 'timeout' || error.kind === 'memory' || error.kind === 'stack'
      throw error
    }
  }

  #runJobs(): void {
    if (!this.#runtime.hasPendingJob()) return
    const done = this.#runtime.executePendingJobs(MAX_JOBS)
    if (done.error !== undefined) throw this.#thrown(done.error)
    if (!this.#runtime.hasPendingJob()) return
    this.isBroken = true
    throw new ScriptFault('promise', `the script has more than ${MAX_JOBS} promise callbacks in one call`)
  }

  #text(result: ReturnType<QuickJSContext['callFunction']>): string {
    const handle = this.#value(result)
    const text = this.#context.getString(handle)
    handle.dispose()
    return text
  }

  #value(result: ReturnType<QuickJSContext['callFunction']>): QuickJSHandle {
    if (result.error !== undefined) throw this.#thrown(result.error)
    return result.value
  }

  /** Converts an error that no script can catch, or one from loading, to a ScriptFault. */
  #thrown(error: QuickJSHandle): ScriptFault {
    if (this.#deadline.isPast) return timeoutFault()
    const read = (name: string): string => {
      const value = this.#context.getProp(error, name)
      const text = this.#context.typeof(value) === 'string' ? this.#context.getString(value) : ''
      value.dispose()
      return text.slice(0, 2000)
    }
    return faultOf({ name: read('name'), message: read('message'), stack: read('stack'), isBody: false })
  }

  memoryBytes(): number {
    const usage = this.#context.dump(this.#runtime.computeMemoryUsage()) as { memory_used_size: number }
    return usage.memory_used_size
  }

  close(): void {
    // Garbage collection frees the instance. Freeing the parts one by one may fail in a broken instance.
    this.isBroken = true
  }
}

function timeoutFault(): ScriptFault {
  return new ScriptFault('timeout', TOO_LONG)
}

/** Converts an engine error to a ScriptFault. The gateway's own stack may overflow before the script's. */
function engineFault(error: unknown): ScriptFault {
  if (error instanceof RangeError) return new ScriptFault('stack', 'stack overflow in the script')
  const kind: FaultKind = 'exception'
  return new ScriptFault(kind, `the engine failed: ${error instanceof Error ? error.message : String(error)}`)
}
