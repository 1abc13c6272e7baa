import { type Engine, type HookName, type Program, type Sandbox, ScriptFault } from './engine.js'
import { isolatedVmEngine, isReadyForIsolates } from './isolated-vm/isolated-vm-engine.js'
import { quickjsEngine } from './quickjs/quickjs-engine.js'
import type { ScriptSettings } from './settings.js'

/** What a call came to: the changes as text, or why there are none. Can be cloned, for calls on threads. */
export type CallResult =
  | { readonly changes: string; readonly fault: null }
  | {
      readonly changes: null
      readonly fault: { readonly kind: ScriptFault['kind']; readonly message: string }
    }

/** One call of a script, as texts. */
export interface CallInputs {
  readonly hook: HookName
  readonly input: string
  readonly body: string
}

/**
 * Keeps one sandbox for a script, and makes another when that one broke:
 *
 *     call ─► sandbox ─► result
 *                └─ broken ─► opened anew; calls meanwhile wait for it
 */
export class ScriptRunner {
  readonly #engine: Engine
  readonly #program: Program
  #sandbox: Sandbox
  #opening: Promise<void> | null = null

  constructor(engine: Engine, program: Program, sandbox: Sandbox) {
    this.#engine = engine
    this.#program = program
    this.#sandbox = sandbox
  }

  get engine(): Engine['name'] {
    return this.#engine.name
  }

  get exported(): readonly string[] {
    return this.#sandbox.exported
  }

  /** What the script holds in memory now. */
  memoryBytes(): number {
    return this.#sandbox.isBroken ? 0 : this.#sandbox.memoryBytes()
  }

  /** A promise only while the sandbox is made anew. */
  call(inputs: CallInputs): CallResult | Promise<CallResult> {
    if (!this.#sandbox.isBroken) return this.#call(inputs)
    this.#opening ??= this.#reopen()
    // Whoever waited before may have broken the new one.
    return this.#opening.then(() => this.call(inputs))
  }

  #call({ hook, input, body }: CallInputs): CallResult {
    try {
      return { changes: this.#sandbox.call(hook, input, body), fault: null }
    } catch (error) {
      if (!(error instanceof ScriptFault)) throw error
      if (this.#sandbox.isBroken) this.#sandbox.close()
      return { changes: null, fault: { kind: error.kind, message: error.message } }
    }
  }

  async #reopen(): Promise<void> {
    try {
      this.#sandbox = await this.#engine.open(this.#program)
    } finally {
      this.#opening = null
    }
  }

  close(): void {
    this.#sandbox.close()
  }
}

/** Opens a script. @throws Error with its mistake, for the operator */
export async function openRunner({ label, source, engine, limits }: ScriptSettings): Promise<ScriptRunner> {
  const chosen = await engineOf(engine)
  const program = { source, limits }
  try {
    return new ScriptRunner(chosen, program, await chosen.open(program))
  } catch (cause) {
    throw new Error(`${label}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

async function engineOf(wanted: ScriptSettings['engine']): Promise<Engine> {
  if (wanted === 'quickjs') return quickjsEngine()
  if (wanted === 'auto') return isReadyForIsolates() ? isolatedVmEngine() : quickjsEngine()
  return isolatedVmEngine()
}
