import { isFlaw } from './flaw.js'
import { parseTarget } from './grammar/target.js'
import { unpackBundle } from './packed-bundle.js'
import type { ConfigBundle, Plan, TargetPlan } from './plan.js'
import { fillText, mapTexts } from './plan-text.js'

/**
 * The plan with the values of its references in place: what is compiled, and never printed or stored.
 * @throws Error when a value is missing or a target is no URL; both mean that the load was put together by hand.
 */
export function resolvePlan(bundle: ConfigBundle): Plan {
  const { plan, values } = unpackBundle(bundle)
  const resolved = mapTexts(plan, (text) => fillText(text, values)) as Plan
  return {
    ...resolved,
    upstreams: resolved.upstreams.map((upstream) => ({
      ...upstream,
      targets: upstream.targets.map(withOrigin),
    })),
  }
}

/** A URL that came from a reference may have a slash at its end. */
function withOrigin(target: TargetPlan): TargetPlan {
  const address = parseTarget(target.url)
  if (isFlaw(address)) throw new Error('a target of the plan is not the URL of a target')
  const { origin, ...service } = address
  return { ...service, ...target, url: origin }
}
