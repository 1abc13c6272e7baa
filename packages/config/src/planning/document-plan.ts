import { parseDuration } from '@sluice/core'
import type { KubernetesPlan, MetricsPlan, OverloadPlan, Plan, PluginPlan, RoutePlan } from '../plan/plan.js'
import type { InlinedTexts } from '../reference/resolved-document.js'
import type { Document } from '../schema/document.js'
import { controlPlan } from './control-plan.js'
import { addressOf, adminPlan, listenerPlan } from './listener-plan.js'
import { logPlan } from './log-plan.js'
import { otlpPlan } from './log-target-plans.js'
import { inPrecedence } from './precedence.js'
import { routePlans } from './route-plan.js'
import { cachePlan, statePlan } from './state-plan.js'
import { tracingPlan, withExporter } from './tracing-plan.js'
import { upstreamPlan } from './upstream-plan.js'
import { vaultPlan } from './vault-plan.js'

/** Inputs of a plan in addition to the document. */
export interface PlanParts {
  /** Strings of the document whose references the plan replaces with values. */
  readonly inlined: InlinedTexts
  readonly plugins: readonly PluginPlan[]
  /** Adds the routes that are already loaded to those in the document, in document order. */
  readonly allRoutes: (routes: RoutePlan[]) => readonly RoutePlan[]
}

/**
 * Returns the plan of a checked document whose defaults are filled in.
 * @throws Error if the document was not checked
 */
export function planOf(document: Document, { inlined, plugins, allRoutes }: PlanParts): Plan {
  const routes = inPrecedence(allRoutes(routePlans(document, inlined)))
  const names = Object.keys(document.upstreams).sort()
  return {
    version: 1,
    environment: document.environment ?? null,
    listeners: document.listeners.map(listenerPlan),
    admin: adminPlan(document.admin),
    workers: document.workers ?? null,
    upstreams: names.map((name) => upstreamPlan(name, document.upstreams[name]!)),
    routes,
    log: withExporter(logPlan(document.log), document.tracing, routes),
    metrics: metricsPlan(document.metrics),
    ...(document.tracing === undefined ? {} : { tracing: tracingPlan(document.tracing) }),
    drain: { delayMs: parseDuration(document.drain.delay), timeoutMs: parseDuration(document.drain.timeout) },
    overload: overloadPlan(document.overload),
    state: document.state === undefined ? null : statePlan(document.state),
    cache: document.cache === undefined ? null : cachePlan(document.cache),
    ...(document.kubernetes === undefined ? {} : { kubernetes: kubernetesPlan(document.kubernetes) }),
    ...(document.vault === undefined ? {} : { vault: vaultPlan(document.vault) }),
    ...(document.control === undefined ? {} : { control: controlPlan(document.control) }),
    plugins,
  }
}

function kubernetesPlan({ kubeconfig, context }: NonNullable<Document['kubernetes']>): KubernetesPlan {
  return { kubeconfig, context: context ?? null }
}

function metricsPlan({ enabled, address, otlp }: Document['metrics']): MetricsPlan {
  return {
    enabled,
    ...(address === undefined ? {} : { address: addressOf(address) }),
    ...(otlp === undefined ? {} : { otlp: { ...otlpPlan(otlp), intervalMs: parseDuration(otlp.interval) } }),
  }
}

function overloadPlan({ maxLoopDelay, maxInFlight, retryAfter }: Document['overload']): OverloadPlan {
  return {
    maxLoopDelayMs: parseDuration(maxLoopDelay),
    maxInFlight: maxInFlight ?? null,
    retryAfterMs: parseDuration(retryAfter),
  }
}
