import type { ConfigBundle, Plan, RoutePlan } from '@sluice/config'
import { resolvePlan, resolveRoute } from '@sluice/config/serving'
import { Slices } from '@sluice/core'

/** The routes of one bundle by text, with the values inserted into them. */
interface ReadRoutes {
  readonly values: string
  readonly routes: ReadonlyMap<string, RoutePlan>
}

/**
 * Reads plans from bundles and resolves their references. A route that is unchanged since one of the last two bundles
 * is the same object, so its compiled form can be found again.
 */
export class PlanReader {
  #last: readonly ReadRoutes[] = []

  /** Reads the plan of a bundle. @throws Error if a value is missing. */
  async read(bundle: ConfigBundle): Promise<Plan> {
    const { routeTexts } = bundle
    if (routeTexts === undefined) return resolvePlan(bundle)
    const slices = new Slices(this.#last.length > 0)
    const plan = resolvePlan({ ...bundle, routeTexts: [] })
    const values = JSON.stringify(bundle.values)
    const routes = new Map<string, RoutePlan>()
    for (const text of routeTexts) {
      if (slices.isOver) await slices.next()
      const isSame = (read: ReadRoutes): boolean =>
        read.routes.has(text) && (read.values === values || !text.includes('${'))
      const known = this.#last.find(isSame)?.routes.get(text)
      routes.set(text, known ?? resolveRoute(text, bundle.values))
    }
    this.#last = [{ values, routes }, ...this.#last.slice(0, 1)]
    return { ...plan, routes: [...routes.values()] }
  }
}
