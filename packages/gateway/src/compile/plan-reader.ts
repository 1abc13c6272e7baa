import type { ConfigBundle, Plan, RoutePlan } from '@sluice/config'
import { resolvePlan, resolveRoute } from '@sluice/config/serving'
import { Slices } from './slices.js'

/**
 * Makes plans of bundles, with the values of their references. A route that means what it did in one of the last two bundles is
 * the same object, by which its compiled form is found again.
 */
export class PlanReader {
  #routes: ReadonlyMap<string, RoutePlan> = new Map()
  #earlier: ReadonlyMap<string, RoutePlan> = new Map()

  /** @throws Error when a value is missing. */
  async read(bundle: ConfigBundle): Promise<Plan> {
    const { routeTexts, values } = bundle
    if (routeTexts === undefined) return resolvePlan(bundle)
    const slices = new Slices()
    const plan = resolvePlan({ ...bundle, routeTexts: [] })
    const allValues = JSON.stringify(values)
    const routes = new Map<string, RoutePlan>()
    for (const text of routeTexts) {
      if (slices.isOver) await slices.next()
      const key = text.includes('${') ? text + allValues : text
      routes.set(key, this.#routes.get(key) ?? this.#earlier.get(key) ?? resolveRoute(text, values))
    }
    this.#earlier = this.#routes
    this.#routes = routes
    return { ...plan, routes: [...routes.values()] }
  }
}
