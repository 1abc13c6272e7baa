import { performance } from 'node:perf_hooks'
import {
  AttemptTrace,
  type Eventual,
  type Exchange,
  type HookPhase,
  type PolicyRun,
  type Reply,
} from '@sluice/core'
import type { Chain, FinishHook, RejectedHook, ResponseHooks } from './chain.js'
import { failureNote, type Hook } from './hook.js'
import { type Change, Picture } from './step-changes.js'

/** Phase in which a hook runs: as in traffic records, after a rejected attempt, or after the response. */
export type StepPhase = HookPhase | 'rejected' | 'finish'

/** A run of a policy's hook. */
export interface Step {
  readonly phase: StepPhase
  readonly policy: string
  /** `skipped`: its condition is false. `error`: it failed, or had not finished when the request ended. */
  outcome: 'continue' | 'respond' | 'skipped' | 'error'
  /** Code or status of a response, or kind of error; empty for others. */
  note: string
  micros: number
  changes: readonly Change[]
}

/** Maximum number of steps per request. Repeated attempts could run many. */
const MAX_STEPS = 100
/** Maximum number of body bytes copied per request. */
const MAX_BODY_BYTES = 65_536
const UNFINISHED = 'unanswered'
const LAST = Number.MAX_SAFE_INTEGER

/**
 * Records the steps of one request. The request runs a copy of its route's chain, whose hooks are wrapped. Other
 * requests run the compiled chain, so that they pay nothing.
 */
export class StepRecorder {
  readonly steps: Step[] = []
  /** Number of steps that were not recorded. */
  lostSteps = 0
  readonly #onEnd: (x: Exchange) => void
  #bodyBytes = 0
  /** Receives the mark of a skipped policy if the log does not trace policies. */
  readonly #marks = new AttemptTrace(true)

  /** @param onEnd Called after the finish hooks. It must not throw. */
  constructor(onEnd: (x: Exchange) => void) {
    this.#onEnd = onEnd
  }

  /** Returns the chain for the traced request. Background refreshes are not traced. */
  wrap(chain: Chain): Chain {
    const { layers } = chain
    return {
      ...this.#responseHooks(chain),
      request: this.#hooks(chain.request),
      requestBody: this.#hooks(chain.requestBody),
      attempt: this.#hooks(chain.attempt),
      rejected: chain.rejected?.map((hook) => this.#rejected(hook)) ?? null,
      finish: [
        ...(chain.finish ?? []).map((hook) => this.#finish(hook)),
        { name: 'step trace', order: LAST, run: this.#onEnd },
      ],
      layers: layers && {
        inner: this.#responseHooks(layers.inner),
        outer: this.#responseHooks(layers.outer),
      },
      refresh: chain.refresh,
    }
  }

  #responseHooks({ response, responseBody }: ResponseHooks): ResponseHooks {
    return {
      response: this.#hooks(response),
      responseBody: this.#hooks(responseBody),
    }
  }

  #hooks(hooks: readonly Hook[] | null): readonly Hook[] | null {
    if (hooks === null) return null
    return hooks.map((hook) => ({ ...hook, run: (x) => this.#run(hook, x) }))
  }

  #run(hook: Hook, x: Exchange): Eventual {
    const step = this.#begin(hook.phase, hook.name)
    const before = new Picture(x)
    const { policyTrace } = x.record
    const trace = policyTrace ?? this.#marks
    if (policyTrace === null) {
      x.record.policyTrace = trace
      trace.begin(hook.name, 0, hook.phase)
    }
    const run = trace.running
    const sinceMono = performance.now()
    const end = (reply: Reply | null): Reply | null => this.#settle(step, { sinceMono, before, run, reply })
    try {
      const outcome = hook.run(x)
      if (outcome instanceof Promise)
        return outcome.then(
          (late) => end(late ?? null),
          (error: unknown) => this.#fail(step, { sinceMono, before, error }),
        )
      return end(outcome)
    } catch (error) {
      return this.#fail(step, { sinceMono, before, error })
    } finally {
      x.record.policyTrace = policyTrace
    }
  }

  #begin(phase: StepPhase, policy: string): Step {
    const step: Step = { phase, policy, outcome: 'error', note: UNFINISHED, micros: 0, changes: [] }
    if (this.steps.length < MAX_STEPS) this.steps.push(step)
    else this.lostSteps++
    return step
  }

  #settle(step: Step, { sinceMono, before, run, reply }: Ended & Finished): Reply | null {
    step.micros = microsSince(sinceMono)
    const mark = run === null ? null : run.mark
    step.outcome =
      reply !== null ? 'respond' : mark === 'skip' ? 'skipped' : mark === 'error' ? 'error' : 'continue'
    step.note = reply === null ? (mark === 'error' ? 'ignored' : '') : replyNote(reply)
    step.changes = this.#bounded(before.changes())
    return reply
  }

  /** @throws the error */
  #fail(step: Step, { sinceMono, before, error }: Ended & { readonly error: unknown }): never {
    step.micros = microsSince(sinceMono)
    step.note = failureNote(error)
    step.changes = this.#bounded(before.changes())
    throw error
  }

  #rejected(hook: RejectedHook): RejectedHook {
    const run: RejectedHook['run'] = (x, answer) => {
      const step = this.#begin('rejected', hook.name)
      const isRepeated = this.#timed(step, x, () => hook.run(x, answer))
      if (isRepeated) step.note = 'try again'
      return isRepeated
    }
    return { ...hook, run }
  }

  #finish(hook: FinishHook): FinishHook {
    return { ...hook, run: (x) => this.#timed(this.#begin('finish', hook.name), x, () => hook.run(x)) }
  }

  #timed<T>(step: Step, x: Exchange, work: () => T): T {
    const before = new Picture(x)
    const sinceMono = performance.now()
    try {
      const result = work()
      this.#settle(step, { sinceMono, before, run: null, reply: null })
      return result
    } catch (error) {
      return this.#fail(step, { sinceMono, before, error })
    }
  }

  /** Leaves out bodies beyond the limit of the request. */
  #bounded(changes: readonly Change[]): readonly Change[] {
    return changes.map((change) => {
      if (change.what !== 'body') return change
      const bytes = (change.before?.beginning.length ?? 0) + (change.after?.beginning.length ?? 0)
      this.#bodyBytes += bytes
      return this.#bodyBytes <= MAX_BODY_BYTES ? change : { ...change, before: null, after: null }
    })
  }
}

interface Ended {
  readonly sinceMono: number
  readonly before: Picture
}

interface Finished {
  /** Trace of the policy, whose mark tells if its condition was false; null if unknown. */
  readonly run: PolicyRun | null
  readonly reply: Reply | null
}

function microsSince(sinceMono: number): number {
  return Math.round((performance.now() - sinceMono) * 1000)
}

function replyNote({ problem, status }: Reply): string {
  return problem === null ? String(status) : `${status} ${problem.code}`
}
