import { compileCondition } from '@sluice/config/serving'
import type { Exchange } from '@sluice/core'

/** Condition of a step trace. */
export interface StepCondition {
  /** True if it depends on the request alone, so that it is evaluated before the policies run. */
  readonly isEarly: boolean
  test(x: Exchange): boolean
}

/**
 * Compiles a condition. One on the request is evaluated when it arrives, any other one at its end, with the names that
 * conditions of log targets have. Environment variables are hidden from it.
 * @throws Error that describes the mistake
 */
export function compileStepCondition(text: string): StepCondition {
  const early = tryRoute(text)
  return early ?? { isEarly: false, test: compiled(text, 'record').test }
}

function tryRoute(text: string): StepCondition | null {
  try {
    const { needs, test } = compiled(text, 'route')
    return needs.body ? null : { isEarly: true, test }
  } catch {
    return null
  }
}

function compiled(text: string, scope: 'route' | 'record') {
  return compileCondition(text, scope, { env: {} })
}
