import type { RedirectPlan, RespondPlan, RewritePlan, RoutePlan } from '@sluice/config'
import { answer, type Exchange, pathWithParameters, type Reply, withQuery } from '@sluice/core'
import type { ProxyAction, RouteAction } from '../flow/route.js'
import type { Upstream } from '../upstream/upstream.js'
import { compilePrefix, compileRegexRewrite, compileTemplate } from './path-template.js'

/** Compiles a route's action: a fixed response, a redirect or a proxied request. */
export function compileAction(route: RoutePlan, upstreams: ReadonlyMap<string, Upstream>): RouteAction {
  const { action } = route
  if (action.kind === 'respond') return compileRespond(action)
  if (action.kind === 'redirect') return compileRedirect(route, action)
  return compileProxy(route, upstreams.get(action.upstream)!)
}

function compileProxy(route: RoutePlan, upstream: Upstream): ProxyAction {
  const timeouts = route.timeouts!
  return {
    kind: 'proxy',
    upstream,
    timeouts,
    delivery: { idleMs: timeouts.idleMs, bufferBytes: upstream.responseBufferBytes },
    target: compileTarget(route),
    host: route.rewrite?.host ?? 'keep',
    webSocket: route.websocket,
  }
}

/** Returns a function that computes the path and query sent upstream, or null if they stay unchanged. */
export function compileTarget(route: RoutePlan): ProxyAction['target'] {
  const path = route.rewrite === null ? null : compileRewrite(route, route.rewrite)
  return path === null ? null : (x) => withQuery(path(x), x)
}

function compileRewrite(route: RoutePlan, rewrite: RewritePlan): ((x: Exchange) => string) | null {
  if (rewrite.prefix !== null) return compilePrefix(route, rewrite.prefix)
  if (rewrite.path !== null) return compileTemplate(rewrite.path, route.match.path)
  if (rewrite.regex !== null) return compileRegexRewrite(rewrite.regex.pattern, rewrite.regex.replacement)
  return null
}

function compileRespond(plan: RespondPlan): RouteAction {
  const headers = plan.headers.flat()
  const reply = answer(plan.status, headers, Buffer.from(plan.body))
  return { kind: 'answer', reply: () => reply }
}

function compileRedirect(route: RoutePlan, plan: RedirectPlan): RouteAction {
  const path = redirectPath(route, plan)
  return { kind: 'answer', reply: (x) => redirectReply(x, plan, path(x)) }
}

function redirectPath(route: RoutePlan, plan: RedirectPlan): (x: Exchange) => string {
  if (plan.path !== null) return compileTemplate(plan.path, route.match.path)
  return plan.prefix === null ? pathWithParameters : compilePrefix(route, plan.prefix)
}

function redirectReply(x: Exchange, plan: RedirectPlan, path: string): Reply {
  const target = plan.keepQuery ? withQuery(path, x) : path
  return answer(plan.status, ['location', redirectOrigin(x, plan) + target], null)
}

/**
 * Returns the origin of a redirect. Empty if only the path changes: a relative Location keeps the client's
 * scheme and host.
 */
function redirectOrigin(x: Exchange, plan: RedirectPlan): string {
  if (plan.scheme === null && plan.host === null && plan.port === null) return ''
  const port = plan.port === null ? '' : `:${plan.port}`
  return `${plan.scheme ?? x.scheme}://${plan.host ?? x.host}${port}`
}
