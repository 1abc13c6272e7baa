import type { Chain, FinishHook, RejectedHook } from '../flow/chain.js'
import type { Hook } from '../flow/hook.js'

/** Hooks of a route's steps by phase, in document order. */
export interface Phases {
  readonly request: Hook[]
  readonly requestBody: Hook[]
  readonly attempt: Hook[]
  readonly rejected: RejectedHook[]
  readonly response: Hook[]
  readonly responseBody: Hook[]
  readonly finish: FinishHook[]
}

/** An item with a position in the list of policies. */
interface Placed {
  readonly order: number
}

/**
 * Sorts a route's hooks into execution order. Normally that is document order. With a step that stores
 * responses, responses pass the steps after it first, then the step itself, then the steps before it.
 *
 *     client ─► a ─► cache ─► b ─► upstream        client ◄─ a ◄─ cache ◄─ b ◄─ upstream
 *
 * @param storingStep position of the step that stores responses, or null.
 */
export function chainOf(phases: Phases, storingStep: number | null): Chain {
  const plain = {
    request: orNull(phases.request),
    requestBody: orNull(phases.requestBody),
    attempt: orNull(phases.attempt),
    rejected: orNull(phases.rejected),
    response: orNull(phases.response),
    responseBody: orNull(phases.responseBody),
    finish: orNull(phases.finish),
    layers: null,
    refresh: null,
  }
  if (storingStep === null) return plain
  const response = onWayBack(phases.response, storingStep)
  const responseBody = onWayBack(phases.responseBody, storingStep)
  const chain = { ...plain, response: orNull(response), responseBody: orNull(responseBody) }
  return {
    ...chain,
    layers: layersOf(response, responseBody, storingStep),
    refresh: refreshChain(phases, storingStep),
  }
}

/**
 * Returns the response hooks on each side of the storing step. Null if no hook behind it changes bodies, so
 * that all heads can be handled before all bodies.
 */
function layersOf(
  response: readonly Hook[],
  responseBody: readonly Hook[],
  storingStep: number,
): Chain['layers'] {
  const innerBodies = behind(responseBody, storingStep)
  if (innerBodies.length === 0) return null
  return {
    inner: { response: orNull(behind(response, storingStep)), responseBody: innerBodies },
    outer: {
      response: orNull(response.filter(({ order }) => order <= storingStep)),
      responseBody: orNull(responseBody.filter(({ order }) => order <= storingStep)),
    },
  }
}

/** Returns the chain for background refreshes. The steps before the storing one have run already. */
function refreshChain(phases: Phases, storingStep: number): Chain {
  const isPart = ({ order }: Placed): boolean => order >= storingStep
  const response = onWayBack(phases.response.filter(isPart), storingStep)
  const responseBody = onWayBack(phases.responseBody.filter(isPart), storingStep)
  return {
    request: orNull(behind(phases.request, storingStep)),
    requestBody: orNull(behind(phases.requestBody, storingStep)),
    attempt: orNull(phases.attempt),
    rejected: orNull(phases.rejected),
    response: orNull(response),
    responseBody: orNull(responseBody),
    finish: orNull(phases.finish.filter(isPart)),
    layers: layersOf(response, responseBody, storingStep),
    refresh: null,
  }
}

function onWayBack(hooks: readonly Hook[], storingStep: number): readonly Hook[] {
  const own = hooks.filter(({ order }) => order === storingStep)
  return [...behind(hooks, storingStep), ...own, ...hooks.filter(({ order }) => order < storingStep)]
}

function behind<T extends Placed>(hooks: readonly T[], storingStep: number): readonly T[] {
  return hooks.filter(({ order }) => order > storingStep)
}

function orNull<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list
}
