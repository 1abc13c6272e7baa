import { packedJson } from '../plan/digest.js'
import type { ConfigBundle, RoutePlan } from '../plan/plan.js'
import { fillText, mapTexts } from './plan-text.js'

/** Returns a bundle with its routes as JSON strings. Equal routes have equal strings. */
export function packBundle(bundle: ConfigBundle): ConfigBundle {
  if (bundle.routeTexts !== undefined) return bundle
  return { ...bundle, plan: { ...bundle.plan, routes: [] }, routeTexts: routeTextsOf(bundle) }
}

/** Returns a bundle with its routes in its plan. */
export function unpackBundle({ routeTexts, ...bundle }: ConfigBundle): ConfigBundle {
  if (routeTexts === undefined) return bundle
  const routes = routeTexts.map((text) => JSON.parse(text) as RoutePlan)
  return { ...bundle, plan: { ...bundle.plan, routes } }
}

/** Returns two bundles without the routes that both have. */
export function withoutCommonRoutes(a: ConfigBundle, b: ConfigBundle): [ConfigBundle, ConfigBundle] {
  const [textsOfA, textsOfB] = [new Set(routeTextsOf(a)), new Set(routeTextsOf(b))]
  const without = (bundle: ConfigBundle, other: ReadonlySet<string>): ConfigBundle =>
    unpackBundle({ ...bundle, routeTexts: routeTextsOf(bundle).filter((text) => !other.has(text)) })
  return [without(a, textsOfB), without(b, textsOfA)]
}

/** Returns a route from its JSON string, with references resolved. @throws Error if a value is missing */
export function resolveRoute(text: string, values: ConfigBundle['values']): RoutePlan {
  return mapTexts(JSON.parse(text), (part) => fillText(part, values)) as RoutePlan
}

function routeTextsOf({ plan, routeTexts }: ConfigBundle): readonly string[] {
  return routeTexts ?? plan.routes.map(packedJson)
}
