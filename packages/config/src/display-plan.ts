import type { Catalog } from '@sluice/core'
import { MASK, maskSecrets } from './mask.js'
import type { AdminPlan, ListenerPlan, LogPlan, MatchPlan, Plan, PolicyUse, UpstreamPlan } from './plan.js'
import { adminSchema, listenerSchema } from './schema/listener.js'
import { logSchema } from './schema/log.js'
import { upstreamSchema } from './schema/upstream.js'

/**
 * The plan as it may be shown: secrets written into the document are masked, references stand as written. The
 * configuration of a policy that the catalog does not have is masked as a whole.
 */
export function displayPlan(plan: Plan, catalog: Catalog): Plan {
  return {
    ...plan,
    listeners: plan.listeners.map((listener) => maskSecrets(listenerSchema, listener) as ListenerPlan),
    admin: maskSecrets(adminSchema, plan.admin) as AdminPlan,
    upstreams: plan.upstreams.map((upstream) => maskSecrets(upstreamSchema, upstream) as UpstreamPlan),
    routes: plan.routes.map((route) => ({
      ...route,
      match: displayMatch(route.match),
      policies: route.policies.map((policy) => displayPolicy(policy, catalog)),
    })),
    log: maskSecrets(logSchema, plan.log) as LogPlan,
  }
}

function displayMatch({ shown, ...match }: MatchPlan): MatchPlan {
  if (shown === undefined) return match
  const { path, hosts } = shown
  if (path === null) return { ...match, hosts }
  return { ...match, hosts, path: { ...match.path, text: path, segments: [] } }
}

function displayPolicy(policy: PolicyUse, catalog: Catalog): PolicyUse {
  const schema = catalog.get(policy.use)?.schema
  return { ...policy, with: schema === undefined ? MASK : maskSecrets(schema, policy.with) }
}
