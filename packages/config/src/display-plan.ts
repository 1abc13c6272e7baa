import { type Catalog, MASK } from '@sluice/core'
import { isSecretName, maskedLiteral } from './literal-secrets.js'
import { maskSecrets, maskTexts } from './mask.js'
import type {
  ActionPlan,
  AdminPlan,
  CachePlan,
  FieldPredicate,
  ListenerPlan,
  LogPlan,
  MatchPlan,
  Plan,
  PolicyUse,
  StatePlan,
  UpstreamPlan,
} from './plan.js'
import { mapTexts } from './plan-text.js'
import { describedCatalog } from './plugins/plugin-set.js'
import { withoutFolder } from './reference/folder.js'
import { cacheSchema } from './schema/cache.js'
import { adminSchema, listenerSchema } from './schema/listener.js'
import { logSchema } from './schema/log.js'
import { stateSchema } from './schema/state.js'
import { upstreamSchema } from './schema/upstream.js'

/**
 * The plan as it may be shown: secrets written into the document are masked, references stand as written. The
 * configuration of a policy that the catalog does not have is masked as a whole. Relative paths stand as written.
 */
export function displayPlan(plan: Plan, ownCatalog: Catalog): Plan {
  const catalog = describedCatalog(ownCatalog, plan.plugins)
  const shown = {
    ...plan,
    listeners: plan.listeners.map((listener) => maskSecrets(listenerSchema, listener) as ListenerPlan),
    admin: maskSecrets(adminSchema, plan.admin) as AdminPlan,
    upstreams: plan.upstreams.map(displayUpstream),
    routes: plan.routes.map((route) => ({
      ...route,
      match: displayMatch(route.match),
      rewrite: maskTexts(route.rewrite),
      action: displayAction(route.action),
      policies: route.policies.map((policy) => displayPolicy(policy, catalog)),
    })),
    log: maskSecrets(logSchema, plan.log) as LogPlan,
    cache: plan.cache === null ? null : (maskSecrets(cacheSchema, plan.cache) as CachePlan),
    state: plan.state === null ? null : (maskSecrets(stateSchema, plan.state) as StatePlan),
  }
  return mapTexts(shown, withoutFolder) as Plan
}

function displayUpstream(plan: UpstreamPlan): UpstreamPlan {
  const shown = maskSecrets(upstreamSchema, plan) as UpstreamPlan
  if (shown.health === null) return shown
  const headers = shown.health.headers.map(
    ([name, value]) => [name, isSecretName(name) ? maskedLiteral(value) : value] as const,
  )
  return { ...shown, health: { ...shown.health, headers } }
}

function displayMatch({ shown, ...written }: MatchPlan): MatchPlan {
  const match = {
    ...written,
    headers: written.headers.map(displayPredicate),
    query: written.query.map(displayPredicate),
    when: maskTexts(written.when),
  }
  if (shown === undefined) return match
  const { path, hosts } = shown
  if (path === null) return { ...match, hosts }
  return { ...match, hosts, path: { ...match.path, text: path, segments: [] } }
}

function displayPredicate(predicate: FieldPredicate): FieldPredicate {
  const { name, value } = predicate
  return isSecretName(name) ? { ...predicate, value: maskedLiteral(value) } : maskTexts(predicate)
}

function displayAction(action: ActionPlan): ActionPlan {
  if (action.kind !== 'respond') return maskTexts(action)
  const headers = action.headers.map(([name, value]): [string, string] => [
    name,
    isSecretName(name) ? maskedLiteral(value) : maskTexts(value),
  ])
  return { ...action, headers, body: maskTexts(action.body) }
}

function displayPolicy(policy: PolicyUse, catalog: Catalog): PolicyUse {
  const schema = catalog.get(policy.use)?.schema
  return { ...policy, with: schema === undefined ? MASK : maskSecrets(schema, policy.with) }
}
