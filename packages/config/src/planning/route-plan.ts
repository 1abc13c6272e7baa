import { parseDuration, parseSize } from '@sluice/core'
import type { RouteApiPlan, RoutePlan, TimeoutsPlan, WebSocketPlan } from '../plan/plan.js'
import type { InlinedTexts } from '../reference/resolved-document.js'
import type { Document, RouteDocument } from '../schema/document.js'
import { actionPlan, rewritePlan } from './action-plan.js'
import { routeLogPlan } from './capture-plan.js'
import { chainPlanner } from './chain-plan.js'
import { matchPlan } from './match-plan.js'
import { timeoutsPlan } from './upstream-plan.js'

/** Returns the plans of the routes in document order, without their `order`. */
export function routePlans(document: Document, inlined: InlinedTexts): RoutePlan[] {
  const chainOf = chainPlanner(document)
  return document.routes.map((route, i) => ({
    id: route.id,
    api: apiPlan(route.api, document),
    match: matchPlan(route.match, { at: ['routes', i, 'match'], inlined }),
    priority: route.priority,
    criticality: route.criticality,
    cpuBudgetMs: route.cpuBudget === undefined ? null : parseDuration(route.cpuBudget),
    order: 0,
    encodedSlashes: route.encodedSlashes,
    rewrite: rewritePlan(route.rewrite),
    action: actionPlan(route),
    timeouts: routeTimeouts(route, document),
    websocket: webSocketPlan(route.websocket),
    policies: chainOf(route),
    log: routeLogPlan([logOfApi(route.api, document), route.log], document.log.capture),
  }))
}

function apiPlan(name: string | undefined, { apis }: Document): RouteApiPlan | null {
  if (name === undefined) return null
  const { group = null, revision } = apis[name] ?? {}
  return { name, group, revision: revision === undefined ? null : String(revision) }
}

function logOfApi(name: string | undefined, { apis }: Document): RouteDocument['log'] {
  return name === undefined ? undefined : apis[name]?.log
}

function routeTimeouts({ upstream, timeouts }: RouteDocument, { upstreams }: Document): TimeoutsPlan | null {
  const own = upstream === undefined ? undefined : upstreams[upstream]
  if (own === undefined) return null
  const { connectMs, headersMs, idleMs, totalMs } = timeoutsPlan(own.timeouts)
  return {
    connectMs: millisecondsOr(timeouts?.connect, connectMs),
    headersMs: millisecondsOr(timeouts?.headers, headersMs),
    idleMs: millisecondsOr(timeouts?.idle, idleMs),
    totalMs: millisecondsOr(timeouts?.total, totalMs),
  }
}

function webSocketPlan(websocket: RouteDocument['websocket']): WebSocketPlan | null {
  if (websocket === undefined) return null
  return {
    idleMs: parseDuration(websocket.idleTimeout),
    maxMessageBytes: parseSize(websocket.maxMessageBytes),
    rate: websocket.rate ?? null,
    compression: websocket.compression,
  }
}

function millisecondsOr(text: string | undefined, fallback: number): number {
  return text === undefined ? fallback : parseDuration(text)
}
