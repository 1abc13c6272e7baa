import { Replaceable } from '../../engines/deadline/replaceable.js'
import { TimeLimitExceeded } from '../../engines/deadline/run-with-timeout.js'
import {
  type Engine,
  type EngineName,
  type HookName,
  type Sandbox,
  ScriptFault,
  TOO_LONG,
} from '../../engines/script/engine.js'
import { isolatedVmEngine, isReadyForIsolates } from '../../engines/script/isolated-vm/isolated-vm-engine.js'
import { quickjsEngine } from '../../engines/script/quickjs/quickjs-engine.js'
import type { ScriptSettings } from './settings.js'

/** Result of a call: the changes as text, or the fault. Can be cloned, for calls on threads. */
export type CallResult =
  | { readonly changes: string; readonly fault: null }
  | {
      readonly changes: null
      readonly fault: { readonly kind: ScriptFault['kind']; readonly message: string }
    }

/** Inputs of one call. */
export interface CallInputs {
  readonly hook: HookName
  readonly input: string
  readonly body: string
}

/** Runs a script in its sandbox. Replaces the sandbox after a call that broke it. */
export class ScriptRunner {
  readonly engine: EngineName
  readonly exported: readonly string[]
  readonly #sandboxes: Replaceable<Sandbox>

  constructor(engine: EngineName, sandboxes: Replaceable<Sandbox>) {
    this.engine = engine
    this.exported = sandboxes.engine.exported
    this.#sandboxes = sandboxes
  }

  /** Returns the current memory use of the script, in bytes. */
  memoryBytes(): number {
    const sandbox = this.#sandboxes.engine
    return sandbox.isBroken ? 0 : sandbox.memoryBytes()
  }

  /** Calls a hook. Returns a promise only while the sandbox is being replaced. */
  call({ hook, input, body }: CallInputs): CallResult | Promise<CallResult> {
    try {
      const changes = this.#sandboxes.run((sandbox, factor) => sandbox.call(hook, input, body, factor))
      return changes instanceof Promise ? changes.then(resultOf, failure) : resultOf(changes)
    } catch (error) {
      return failure(error)
    }
  }

  close(): void {
    this.#sandboxes.close()
  }
}

function resultOf(changes: string): CallResult {
  return { changes, fault: null }
}

function failure(error: unknown): CallResult {
  if (error instanceof TimeLimitExceeded)
    return { changes: null, fault: { kind: 'timeout', message: TOO_LONG } }
  if (!(error instanceof ScriptFault)) throw error
  return { changes: null, fault: { kind: error.kind, message: error.message } }
}

/** Opens a script. @throws Error with the problem, for the operator */
export async function openRunner({ label, source, engine, limits }: ScriptSettings): Promise<ScriptRunner> {
  const chosen = await engineOf(engine)
  try {
    return new ScriptRunner(chosen.name, await Replaceable.of(() => chosen.open({ source, limits })))
  } catch (cause) {
    throw new Error(`${label}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

async function engineOf(wanted: ScriptSettings['engine']): Promise<Engine> {
  if (wanted === 'quickjs') return quickjsEngine()
  if (wanted === 'auto') return isReadyForIsolates() ? isolatedVmEngine() : quickjsEngine()
  return isolatedVmEngine()
}
