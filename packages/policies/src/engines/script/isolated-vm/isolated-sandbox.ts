import { answerText, faultOf } from '../answer.js'
import { type HookName, type Program, type Sandbox, ScriptFault, TOO_LONG } from '../engine.js'
import { RUNTIME_SOURCE } from '../sandbox/runtime.js'
import type { Isolate, IsolatedVm, Reference } from './isolated-vm-types.js'

const MIB = 1024 * 1024
/** Smallest memory limit of an isolate, in MiB. */
const LEAST_MIB = 8
const LOAD_TIMEOUT_MS = 1000

/** A script in an isolate. */
export class IsolatedSandbox implements Sandbox {
  readonly exported: readonly string[]
  readonly #isolate: Isolate
  readonly #timeout: { readonly timeout: number }
  readonly #start: Reference
  readonly #finish: Reference
  isBroken = false

  constructor(ivm: IsolatedVm, { source, limits }: Program, filename: string) {
    this.#isolate = new ivm.Isolate({ memoryLimit: Math.max(LEAST_MIB, Math.ceil(limits.memoryBytes / MIB)) })
    this.#timeout = { timeout: Math.ceil(limits.timeoutMs) }
    const load = { timeout: LOAD_TIMEOUT_MS }
    const context = this.#isolate.createContextSync()
    const runtime = this.#isolate.compileScriptSync(RUNTIME_SOURCE, { filename: 'runtime' })
    const bridge = runtime.runSync(context, { ...load, reference: true })
    this.#start = bridge.getSync('start', { reference: true })
    this.#finish = bridge.getSync('finish', { reference: true })
    this.exported = this.#guarded(() => {
      const module = this.#isolate.compileModuleSync(source, { filename })
      module.instantiateSync(context, (specifier) => {
        throw new Error(`a script cannot import '${specifier}'`)
      })
      module.evaluateSync(load)
      const loader = bridge.getSync('load', { reference: true })
      const names = loader.applySync(undefined, [module.namespace.derefInto()], load) as string
      return names === '' ? [] : names.split(' ')
    })
  }

  call(hook: HookName, input: string, body: string): string {
    return this.#guarded(() => {
      // The isolate runs all promise callbacks before it returns. It throws the reason of an unhandled rejection.
      this.#start.applySync(undefined, [hook, input, body], this.#timeout)
      return answerText(this.#finish.applySync(undefined, [], this.#timeout) as string)
    })
  }

  #guarded<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      const fault = error instanceof ScriptFault ? error : this.#faultOf(error)
      this.isBroken ||= fault.kind === 'timeout' || fault.kind === 'memory' || fault.kind === 'stack'
      throw fault
    }
  }

  #faultOf(error: unknown): ScriptFault {
    if (this.#isolate.isDisposed) return new ScriptFault('memory', 'out of memory')
    const { name = '', message = String(error), stack = '' } = error instanceof Error ? error : {}
    if (message === 'Script execution timed out.') return new ScriptFault('timeout', TOO_LONG)
    return faultOf({ name, message, stack, isBody: false })
  }

  memoryBytes(): number {
    const { used_heap_size, externally_allocated_size } = this.#isolate.getHeapStatisticsSync()
    return used_heap_size + externally_allocated_size
  }

  close(): void {
    this.isBroken = true
    if (!this.#isolate.isDisposed) this.#isolate.dispose()
  }
}
