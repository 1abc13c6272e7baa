import { type Catalog, MASK } from '@sluice/core'
import type {
  ActionPlan,
  AdminPlan,
  CachePlan,
  ControlPlan,
  ListenerPlan,
  LogPlan,
  MatchPlan,
  MetricsPlan,
  Plan,
  PolicyUse,
  StatePlan,
  UpstreamPlan,
  VaultPlan,
} from '../plan/plan.js'
import { describedCatalog } from '../plugins/plugin-set.js'
import { mapTexts } from '../resolve/plan-text.js'
import { cacheSchema } from '../schema/cache.js'
import { controlSchema } from '../schema/control.js'
import { adminSchema, listenerSchema } from '../schema/listener.js'
import { logSchema } from '../schema/log.js'
import { metricsSchema } from '../schema/metrics.js'
import { stateSchema } from '../schema/state.js'
import { exporterSchema } from '../schema/tracing.js'
import { upstreamSchema } from '../schema/upstream.js'
import { vaultSecretsSchema } from '../schema/vault.js'
import { isSecretName, maskedLiteral } from '../secrets/literal-secrets.js'
import { maskSecrets, maskText, maskTexts } from '../secrets/mask.js'
import { withoutFolder } from '../template/folder.js'

/**
 * Returns the plan as it may be shown: literal secrets are masked, and references and relative paths appear
 * as written. The configuration of a policy that is not in the catalog is masked completely.
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
    log: displayLog(plan.log),
    metrics: maskSecrets(metricsSchema, plan.metrics) as MetricsPlan,
    cache: plan.cache === null ? null : (maskSecrets(cacheSchema, plan.cache) as CachePlan),
    ...(plan.vault === undefined ? {} : { vault: displayVault(plan.vault) }),
    ...(plan.control === undefined
      ? {}
      : { control: maskSecrets(controlSchema, plan.control) as ControlPlan }),
    state: plan.state === null ? null : (maskSecrets(stateSchema, plan.state) as StatePlan),
  }
  return mapTexts(shown, withoutFolder) as Plan
}

/** Masks the token or SecretID of the login. */
function displayVault(plan: VaultPlan): VaultPlan {
  return { ...plan, auth: maskSecrets(vaultSecretsSchema, plan.auth) as VaultPlan['auth'] }
}

function displayLog(plan: LogPlan): LogPlan {
  const shown = maskSecrets(logSchema, plan) as LogPlan
  const outputs = shown.outputs.map((output, i) => {
    const { otlp } = plan.outputs[i]!
    return otlp === undefined ? output : { ...output, otlp: maskSecrets(exporterSchema, otlp) as typeof otlp }
  })
  return { ...shown, outputs }
}

function displayUpstream(plan: UpstreamPlan): UpstreamPlan {
  const shown = maskSecrets(upstreamSchema, plan) as UpstreamPlan
  const { health, canary } = shown
  return {
    ...shown,
    health: health && { ...health, headers: health.headers.map(displayField) },
    canary: canary && { ...canary, match: canary.match.map(displayValue) },
  }
}

function displayField([name, value]: readonly [string, string]): [string, string] {
  return [name, isSecretName(name) ? maskedLiteral(value) : maskText(value)]
}

/** Masks the value of a header, parameter or cookie match if it may be secret. */
function displayValue<T extends { readonly name: string; readonly value: string | null }>(match: T): T {
  const { name, value } = match
  return value === null ? match : { ...match, value: displayField([name, value])[1] }
}

function displayMatch({ shown, ...written }: MatchPlan): MatchPlan {
  const match = {
    ...written,
    headers: written.headers.map(displayValue),
    query: written.query.map(displayValue),
    when: maskTexts(written.when),
  }
  if (shown === undefined) return match
  const { path, hosts } = shown
  if (path === null) return { ...match, hosts }
  return { ...match, hosts, path: { ...match.path, text: path, segments: [] } }
}

function displayAction(action: ActionPlan): ActionPlan {
  if (action.kind === 'proxy') return action
  if (action.kind === 'redirect') return maskTexts(action)
  return { ...action, headers: action.headers.map(displayField), body: maskTexts(action.body) }
}

function displayPolicy(policy: PolicyUse, catalog: Catalog): PolicyUse {
  const parameters = displayPolicyOptions(policy.use, policy.with, catalog)
  return { ...policy, with: parameters, when: policy.when === null ? null : maskText(policy.when) }
}

/** Returns the options of a policy with secrets masked; a mask for a policy that is not in the catalog. */
export function displayPolicyOptions(use: string, options: unknown, catalog: Catalog): unknown {
  const schema = catalog.get(use)?.schema
  return schema === undefined ? MASK : maskSecrets(schema, options)
}
