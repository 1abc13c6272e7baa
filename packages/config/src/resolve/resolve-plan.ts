import { isIssue } from '../diagnostic/issue.js'
import { parseTarget } from '../grammar/target.js'
import type { ConfigBundle, Plan, TargetPlan } from '../plan/plan.js'
import { unpackBundle } from './packed-bundle.js'
import { fillText, mapTexts } from './plan-text.js'

/**
 * Returns the plan with references resolved, ready to compile. It must never be printed or stored.
 * @throws Error if a value is missing or a target is not a URL, which loadDocument prevents
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

/** Converts the URL of a target to an origin. A URL from a reference may have a trailing slash. */
function withOrigin(target: TargetPlan): TargetPlan {
  const address = parseTarget(target.url)
  if (isIssue(address)) throw new Error('a target of the plan is not a target URL')
  const { origin, ...service } = address
  return { ...service, ...target, url: origin }
}
