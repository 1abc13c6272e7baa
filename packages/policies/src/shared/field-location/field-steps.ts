import {
  type CompileEnv,
  type ErrorCode,
  type Eventual,
  type Exchange,
  type Outcome,
  parseSize,
  type Reply,
  refusal,
  type Step,
  UnreadableBody,
} from '@sluice/core'
import { hooksOn } from '../message/hooks.js'
import { faultCode, limitBody, type Side } from '../message/side.js'
import { Draft } from './draft.js'
import type { FieldLocation } from './location.js'

/** A compiled definition of a policy that works on locations of a message. */
export interface FieldStep {
  readonly locations: readonly FieldLocation[]
  run(draft: Draft): Eventual
}

/** Creates a refusal. For a response the fault is the upstream's. */
export function sideRefusal(env: CompileEnv, side: Side, code: ErrorCode, detail: string): Reply {
  return env.refusal(faultCode(side, code), detail)
}

/** Options that all policies with locations have. */
interface FieldPolicyConfig {
  readonly phase: Side
  readonly maxBodyBytes: string
}

/** Creates hooks that run the steps in order, without the body if no location is in it. */
export function fieldHooks(
  name: string,
  { phase: side, maxBodyBytes }: FieldPolicyConfig,
  steps: readonly FieldStep[],
): Step {
  const run = (x: Exchange, body: Uint8Array | null): Eventual => runGuarded(steps, new Draft(x, side, body))
  const limit = parseSize(maxBodyBytes)
  const isInBody = steps.some(({ locations }) => locations.some((location) => location.isInBody))
  const bound = (x: Exchange): null => {
    limitBody(x, side, limit)
    return null
  }
  const hooks = isInBody ? { head: bound, body: run } : { head: (x: Exchange) => run(x, null) }
  return { name, ...hooksOn(side, () => hooks) }
}

function runGuarded(steps: readonly FieldStep[], draft: Draft): Eventual {
  const refuse = (error: unknown): Reply => unreadable(error, draft.side)
  try {
    const outcome = runSteps(steps, draft, 0)
    return outcome instanceof Promise ? outcome.catch(refuse) : outcome
  } catch (error) {
    return refuse(error)
  }
}

/** Runs the steps. Returns a promise only if a step waits. Changes are written to the message after the last step. */
function runSteps(steps: readonly FieldStep[], draft: Draft, from: number): Eventual {
  for (let i = from; i < steps.length; i++) {
    const outcome = steps[i]!.run(draft)
    if (outcome === null) continue
    if (outcome instanceof Promise) return outcome.then((late) => late ?? runSteps(steps, draft, i + 1))
    return outcome satisfies Outcome
  }
  draft.commit()
  return null
}

function unreadable(error: unknown, side: Side): Reply {
  if (!(error instanceof UnreadableBody)) throw error
  return refusal(faultCode(side, error.code), error.message)
}
