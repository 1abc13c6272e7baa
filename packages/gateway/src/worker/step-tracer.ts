import type { Plan } from '@sluice/config'
import type { Exchange } from '@sluice/core'
import type { Route } from '../flow/route.js'
import { StepRecorder } from '../flow/step-recorder.js'
import type { SendStepTrace } from './data-plane.js'
import type { StepTraceSession } from './messages.js'
import { compileStepCondition, type StepCondition } from './step-condition.js'
import { type Arrival, type StepMask, stepTraceJson } from './step-trace.js'

/** Options for `StepTracer`. */
export interface StepTracerOptions {
  readonly worker: number
  readonly log: {
    /** Returns the active configuration. */
    served(): ServedConfiguration
  }
  readonly send: SendStepTrace
}

/** What step traces need of a configuration. */
export interface ServedConfiguration {
  readonly plan: Pick<Plan, 'routes'>
  readonly mask: StepMask
}

interface Session {
  readonly id: number
  readonly route: string | null
  readonly condition: StepCondition | null
  /** Number of traces that this worker may still send. */
  left: number
  /** Number of matching requests that were not traced or whose trace was not sent. */
  lost: number
}

/** Maximum number of requests that are traced at the same time. */
const MAX_OPEN = 32

/**
 * Step traces of a worker. While a session is open, matching requests run a wrapped copy of their chain:
 *
 *     routeFor ─► request runs its wrapped chain (StepRecorder) ─► condition on the result ─► mask ─► send
 */
export class StepTracer {
  readonly #options: StepTracerOptions
  #sessions: readonly Session[] = []
  #open = 0

  constructor(options: StepTracerOptions) {
    this.#options = options
  }

  get isArmed(): boolean {
    return this.#sessions.length > 0
  }

  /** Replaces the sessions. Those that are already known continue. Returns the losses of those that end. */
  set(wanted: readonly StepTraceSession[]): [session: number, lost: number][] {
    const known = new Map(this.#sessions.map((session) => [session.id, session]))
    this.#sessions = wanted.map(({ id, route, when, count }) => {
      const fresh = {
        id,
        route,
        condition: when === null ? null : compileStepCondition(when),
        left: count,
        lost: 0,
      }
      return known.get(id) ?? fresh
    })
    for (const { id } of wanted) known.delete(id)
    return [...known.values()].map(({ id, lost }) => [id, lost])
  }

  /** Returns the route that a request runs: the same one, or a copy with a wrapped chain. */
  routeFor(route: Route, x: Exchange): Route {
    const wanted = this.#sessions.filter((session) => session.left > 0 && isWanted(session, route, x))
    if (wanted.length === 0) return route
    if (this.#open >= MAX_OPEN) {
      for (const session of wanted) session.lost++
      return route
    }
    this.#open++
    const arrival = this.#arrivalOf(route, x)
    const recorder = new StepRecorder((ended) => {
      this.#open--
      const matching = wanted.filter(
        (session) => this.#sessions.includes(session) && matchesEnd(session, ended),
      )
      // The client has its response. The trace must not delay what else this turn has to do.
      if (matching.length > 0)
        setImmediate(() => this.#send(matching, () => stepTraceJson(ended, recorder, arrival)))
    })
    return { ...route, chain: recorder.wrap(route.chain) }
  }

  #arrivalOf({ id }: Route, { method, query }: Exchange): Arrival {
    const { worker, log } = this.#options
    const { plan, mask } = log.served()
    const useOf = (policy: string): string => {
      const route = plan.routes.find((one) => one.id === id)
      return route?.policies.find((use) => use.id === policy)?.use ?? ''
    }
    return { worker, method, query, mask, useOf }
  }

  #send(sessions: readonly Session[], json: () => string): void {
    let trace: string | null = null
    for (const session of sessions) {
      if (session.left === 0) continue
      trace ??= json()
      if (this.#options.send(session.id, trace)) session.left--
      else session.lost++
    }
  }
}

function isWanted({ route, condition }: Session, { id }: Route, x: Exchange): boolean {
  if (route !== null && route !== id) return false
  return condition === null || !condition.isEarly || isTrue(condition, x)
}

function matchesEnd({ condition }: Session, x: Exchange): boolean {
  return condition === null || condition.isEarly || isTrue(condition, x)
}

/** Evaluates a condition. One that fails does not match. */
function isTrue(condition: StepCondition, x: Exchange): boolean {
  try {
    return condition.test(x)
  } catch {
    return false
  }
}
