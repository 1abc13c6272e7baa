import type { Chain, FinishHook, RejectedHook } from '../data-plane/pipeline/chain.js'
import type { Hook } from '../data-plane/pipeline/hook.js'

/** The hooks of a route's steps by phase, in the order in which the document lists the steps. */
export interface Phases {
  readonly request: Hook[]
  readonly requestBody: Hook[]
  readonly attempt: Hook[]
  readonly rejected: RejectedHook[]
  readonly response: Hook[]
  readonly responseBody: Hook[]
  readonly finish: FinishHook[]
}

/** Has a place in the list of policies. */
interface Placed {
  readonly order: number
}

/**
 * Brings the hooks of a route into the order in which they run. Without a step that keeps responses that is the list's;
 * with one, responses meet what is listed behind it first, then itself, then what is listed before it.
 *
 *     client ─► a ─► cache ─► b ─► upstream        client ◄─ a ◄─ cache ◄─ b ◄─ upstream
 *
 * @param keeper the place of the step that keeps responses; null: there is none.
 */
export function chainOf(phases: Phases, keeper: number | null): Chain {
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
  if (keeper === null) return plain
  const response = onWayBack(phases.response, keeper)
  const responseBody = onWayBack(phases.responseBody, keeper)
  const chain = { ...plain, response: orNull(response), responseBody: orNull(responseBody) }
  return {
    ...chain,
    layers: layersOf(response, responseBody, keeper),
    refresh: refreshChain(phases, keeper),
  }
}

/** Null: what is listed behind does nothing to bodies, so that all heads may come before all bodies. */
function layersOf(response: readonly Hook[], responseBody: readonly Hook[], keeper: number): Chain['layers'] {
  const innerBodies = behind(responseBody, keeper)
  if (innerBodies.length === 0) return null
  return {
    inner: { response: orNull(behind(response, keeper)), responseBody: innerBodies },
    outer: {
      response: orNull(response.filter(({ order }) => order <= keeper)),
      responseBody: orNull(responseBody.filter(({ order }) => order <= keeper)),
    },
  }
}

/** What a request goes through that nobody waits for: it has been through the steps before the keeping one already. */
function refreshChain(phases: Phases, keeper: number): Chain {
  const isPart = ({ order }: Placed): boolean => order >= keeper
  const response = onWayBack(phases.response.filter(isPart), keeper)
  const responseBody = onWayBack(phases.responseBody.filter(isPart), keeper)
  return {
    request: orNull(behind(phases.request, keeper)),
    requestBody: orNull(behind(phases.requestBody, keeper)),
    attempt: orNull(phases.attempt),
    rejected: orNull(phases.rejected),
    response: orNull(response),
    responseBody: orNull(responseBody),
    finish: orNull(phases.finish.filter(isPart)),
    layers: layersOf(response, responseBody, keeper),
    refresh: null,
  }
}

function onWayBack(hooks: readonly Hook[], keeper: number): readonly Hook[] {
  const own = hooks.filter(({ order }) => order === keeper)
  return [...behind(hooks, keeper), ...own, ...hooks.filter(({ order }) => order < keeper)]
}

function behind<T extends Placed>(hooks: readonly T[], keeper: number): readonly T[] {
  return hooks.filter(({ order }) => order > keeper)
}

function orNull<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list
}
