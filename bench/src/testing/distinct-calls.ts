import type { Scenario } from '../model/scenario.js'

/** Returns one scenario for each pair of routes and call. Other scenarios differ only in their load or origin. */
export function distinctCalls(scenarios: readonly Scenario[]): Scenario[] {
  return [...new Map(scenarios.map((one) => [JSON.stringify([one.routes, one.call]), one])).values()]
}
