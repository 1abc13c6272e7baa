import type { CompileEnv, Step } from '@sluice/core'
import { type Closer, unwind } from '../lib/shared-table.js'

/** A compiled policy configuration. */
export interface CompiledStep {
  readonly key: string
  readonly step: Promise<Step | null>
  /** Callbacks that release the resources of the step. */
  readonly closers: Closer[]
  uses: number
}

/**
 * Compiled steps of one snapshot. A step that the previous snapshot also has is reused, and closed with the
 * last snapshot that uses it.
 */
export class StepTable {
  readonly #steps = new Map<string, CompiledStep>()
  readonly #envOf: (closers: Closer[]) => CompileEnv
  #last: StepTable | null

  /**
   * @param envOf returns the environment for compiling a step and adds its cleanup callbacks to `closers`.
   * @param last table of the previous snapshot if its steps can be reused; null compiles all steps.
   */
  constructor(envOf: (closers: Closer[]) => CompileEnv, last: StepTable | null = null) {
    this.#envOf = envOf
    this.#last = last
  }

  /** Returns the step of a key, compiling it if needed. */
  take(key: string, compile: (env: CompileEnv) => Promise<Step | null>): CompiledStep {
    const known = this.#steps.get(key) ?? this.#inherited(key)
    if (known !== null) return known
    const closers: Closer[] = []
    const compiled = { key, step: compile(this.#envOf(closers)), closers, uses: 1 }
    this.#steps.set(key, compiled)
    return compiled
  }

  /** Reuses steps of the previous snapshot. Returns false if any is missing, and then none is taken. */
  inherit(steps: readonly CompiledStep[]): boolean {
    const last = this.#last
    if (last === null || !steps.every(({ key }) => last.#steps.has(key))) return false
    for (const { key } of steps) if (!this.#steps.has(key)) this.#inherited(key)
    return true
  }

  /** Ends the reuse of steps, so the previous snapshot can be released. */
  complete(): void {
    this.#last = null
  }

  /** Releases all steps and closes those that no other snapshot uses. */
  close(): void {
    for (const step of this.#steps.values()) if (--step.uses === 0) unwind(step.closers)
    this.#steps.clear()
  }

  #inherited(key: string): CompiledStep | null {
    const step = this.#last === null ? undefined : this.#last.#steps.get(key)
    if (step === undefined) return null
    step.uses++
    this.#steps.set(key, step)
    return step
  }
}
