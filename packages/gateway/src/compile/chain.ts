import type { Condition, PolicyUse } from '@sluice/config'
import { compileCondition } from '@sluice/config/serving'
import {
  type BodyQuery,
  type Catalog,
  CheckFailure,
  type CompileEnv,
  type Eventual,
  type Exchange,
  type HookPhase,
  type PolicyRun,
  type Step,
  UnreadableBody,
} from '@sluice/core'
import { type Chain, EMPTY_CHAIN, type RejectedHook } from '../flow/chain.js'
import { failureNote } from '../flow/hook.js'
import { bodyExaminer } from './body-examiner.js'
import { checkCondition, inChainOrder } from './chain-order.js'
import { chainOf, type Phases } from './hook-order.js'
import { type CompiledStep, StepTable } from './step-table.js'

/** Lists of hooks by their phase. */
const LISTS = {
  request: 'request',
  request_body: 'requestBody',
  attempt: 'attempt',
  response: 'response',
  response_body: 'responseBody',
} as const satisfies Record<HookPhase, keyof Phases>

type HookFunction = (x: Exchange) => Eventual

/**
 * Compiles policies into chains. Policies with equal configuration share one compiled step within a snapshot.
 */
export class ChainCompiler {
  readonly #catalog: Catalog
  readonly #env: CompileEnv
  readonly #onIgnored: (policy: string, error: unknown) => void
  readonly #steps: StepTable

  /**
   * @param onIgnored called with failures of policies with `onError: continue`.
   * @param steps table of compiled policies; defaults to a new one.
   */
  constructor(
    catalog: Catalog,
    env: CompileEnv,
    onIgnored: (policy: string, error: unknown) => void,
    steps = new StepTable(() => env),
  ) {
    this.#catalog = catalog
    this.#env = env
    this.#onIgnored = onIgnored
    this.#steps = steps
  }

  /**
   * Compiles the chain of a route.
   * @param used receives the steps of the chain.
   * @throws Error naming the policy that fails to compile.
   */
  async compile(uses: readonly PolicyUse[], used: CompiledStep[] = []): Promise<Chain> {
    if (uses.length === 0) return EMPTY_CHAIN
    const phases: Phases = {
      request: [],
      requestBody: [],
      attempt: [],
      rejected: [],
      response: [],
      responseBody: [],
      finish: [],
    }
    const questions: BodyQuery[] = []
    let storingStep: number | null = null
    let isDecidedOnBody = false
    for (const [order, use] of inChainOrder(uses, this.#catalog).entries()) {
      const when =
        use.when === null ? null : compileCondition(use.when, 'policy', { bodies: this.#catalog.bodies })
      if (when?.constant === false) continue
      if (when !== null) questions.push(...when.questions)
      const step = await this.#step(use, used)
      if (step === null) continue
      checkCondition(use, when, this.#catalog)
      if (step.keepsResponses === true) {
        if (storingStep !== null)
          throw new Error(`policy '${use.id}': a route can have only one policy that stores responses`)
        storingStep = order
      }
      const asked = when?.constant === true ? null : when
      this.#add(phases, step, { use, order, when: asked, passes: this.#passes(asked), isDecidedOnBody })
      isDecidedOnBody ||= this.#decidesOnBody(step, use, asked)
    }
    const examine = bodyExaminer(questions, this.#catalog, this.#env, 'policy')
    if (examine !== null)
      phases.requestBody.unshift({ name: 'condition', order: -1, phase: 'request_body', run: examine })
    return chainOf(phases, storingStep)
  }

  async #step(use: PolicyUse, used: CompiledStep[]): Promise<Step | null> {
    const policy = this.#catalog.get(use.use)
    if (policy === undefined) throw new Error(`policy '${use.id}': unknown policy '${use.use}'`)
    const key = `${use.use} ${policy.isPerUse === true ? use.id : ''} ${JSON.stringify(use.with)}`
    const compiled = this.#steps.take(key, async (env) => policy.compile(use.with as never, env, use))
    used.push(compiled)
    try {
      return await compiled.step
    } catch (error) {
      throw new Error(`policy '${use.id}' (${use.use}): ${(error as Error).message}`, { cause: error })
    }
  }

  #add(phases: Phases, step: Step, at: Place): void {
    const { id: name } = at.use
    const { order } = at
    const add = (phase: HookPhase, run: HookFunction | undefined): void => {
      if (run !== undefined) phases[LISTS[phase]].push({ name, order, phase, run: this.#wrap(run, at) })
    }
    // A condition on the body can only be evaluated once the body has arrived.
    const readsBody = at.when?.needs.body === true
    const isLate = readsBody || at.isDecidedOnBody
    add(isLate ? 'request_body' : 'request', step.onRequest?.bind(step))
    const onBody = step.onRequestBody?.bind(step)
    add('request_body', onBody && ((x) => onBody(x, x.body!)))
    // Only evaluates the condition. This must happen in the body phase, at the policy's position.
    if (readsBody) add('request_body', () => null)
    add('attempt', step.onAttempt?.bind(step))
    if (step.onRejected !== undefined) {
      const onRejected = step.onRejected.bind(step)
      const run: RejectedHook['run'] = (x, answer) => at.passes?.(x) !== false && onRejected(x, answer)
      phases.rejected.push({ name, run })
    }
    add('response', step.onResponse?.bind(step))
    const onResponseBody = step.onResponseBody?.bind(step)
    add('response_body', onResponseBody && ((x) => onResponseBody(x, x.responseBody!)))
    if (step.onFinish !== undefined) phases.finish.push({ name, order, run: step.onFinish.bind(step) })
  }

  /** Returns true if later steps must wait for the body, because this step uses it to decide about access. */
  #decidesOnBody(step: Step, { use, with: config }: PolicyUse, when: Condition | null): boolean {
    if (step.decidesOnBody === true) return true
    const policy = this.#catalog.get(use)
    const isGate =
      (policy?.authenticates?.(config as never) ?? policy?.needsConsumer?.(config as never) ?? null) !== null
    return isGate && when?.needs.body === true
  }

  #wrap(run: HookFunction, { use, passes }: Place): HookFunction {
    const asked: HookFunction = passes === null ? run : (x) => (passes(x) ? run(x) : skipped(x))
    return use.onError === 'continue' ? this.#tolerant(asked, use.id) : asked
  }

  /**
   * Returns the function that evaluates a condition. A condition on the request body is evaluated once, at
   * its policy's position. Later policies may replace the body, and a second evaluation could then skip the
   * policy's response hooks.
   */
  #passes(when: Condition | null): Place['passes'] {
    if (when === null) return null
    if (!when.needs.body || when.needs.response) return (x) => when.test(x)
    const said = this.#env.slot<boolean>()
    return (x) => {
      const known = said.get(x)
      if (known !== undefined) return known
      const now = when.test(x)
      said.set(x, now)
      return now
    }
  }

  /**
   * Implements `onError: continue`: failures of the policy or its condition are reported and the request
   * continues. Refusals still apply. A body that cannot be read or checked is refused, otherwise its sender
   * could bypass the policy.
   */
  #tolerant(run: HookFunction, name: string): HookFunction {
    const ignore = (error: unknown, traced: PolicyRun | null): null => {
      if (error instanceof UnreadableBody || error instanceof CheckFailure) throw error
      this.#onIgnored(name, error)
      if (traced !== null) {
        traced.mark = 'error'
        traced.note = failureNote(error)
      }
      return null
    }
    return (x) => {
      const traced = x.record.policyTrace === null ? null : x.record.policyTrace.running
      try {
        const outcome = run(x)
        return outcome instanceof Promise ? outcome.catch((error: unknown) => ignore(error, traced)) : outcome
      } catch (error) {
        return ignore(error, traced)
      }
    }
  }
}

interface Place {
  readonly use: PolicyUse
  readonly order: number
  readonly when: Condition | null
  /** Returns true if the policy applies to an exchange; null if it always applies. */
  readonly passes: ((x: Exchange) => boolean) | null
  /** True if an earlier step decides about access after reading the body. */
  readonly isDecidedOnBody: boolean
}

/** Marks the policy as skipped in the trace, because its condition does not match. */
function skipped(x: Exchange): null {
  const trace = x.record.policyTrace
  if (trace !== null && trace.running !== null) trace.running.mark = 'skip'
  return null
}
