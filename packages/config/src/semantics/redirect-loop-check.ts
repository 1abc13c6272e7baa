import { isIssue } from '../diagnostic/issue.js'
import { parsePathPattern } from '../grammar/path-pattern.js'
import type { RouteDocument } from '../schema/document.js'
import type { Inspection } from './inspection.js'
import { coversPath, patternOf } from './route-cover.js'

/** Maximum number of redirects that are followed. */
const MAX_HOPS = 10

/**
 * Warns of redirects that lead back to their own route, directly or through other redirects. Routes with conditions on
 * more than host, path and method are left out: a client may not match them the second time.
 */
export function checkRedirectLoops({ document, origins, report }: Inspection): void {
  const { routes } = document
  const exact = new Map<string, RouteDocument>()
  for (const route of routes) if (isPlain(route)) exact.set(placeOf(route, route.match.path ?? ''), route)
  for (const [route, path] of origins.entries(routes, ['routes'])) {
    if (route.redirect === undefined || !isPlain(route)) continue
    const hops = [route.id]
    let next = nextOf(route, routes, exact)
    while (next !== null && next !== route && hops.length < MAX_HOPS && !hops.includes(next.id)) {
      hops.push(next.id)
      next = nextOf(next, routes, exact)
    }
    if (next !== route) continue
    const way = hops.length === 1 ? 'itself' : `itself through ${hops.slice(1).join(', ')}`
    report.add({
      path: [...path, 'redirect'],
      at: 'key',
      severity: 'warning',
      message: `the route '${route.id}' redirects to ${way}`,
      remedy: 'change the target, or match fewer requests',
    })
  }
}

/** True if only host, path and method decide about the route, and a redirected client still sends such a method. */
function isPlain({ match, redirect }: RouteDocument): boolean {
  const { methods, headers, query, when } = match
  const hasConditions = when !== undefined || Object.keys(headers).length + Object.keys(query).length > 0
  const keepsMethod =
    redirect === undefined || redirect.status > 303 || methods.length === 0 || methods.includes('GET')
  return !hasConditions && keepsMethod
}

/** Returns the route that handles a redirected request, or null if it is not certain. */
function nextOf(
  route: RouteDocument,
  routes: readonly RouteDocument[],
  exact: ReadonlyMap<string, RouteDocument>,
): RouteDocument | null {
  const { redirect, match } = route
  if (redirect === undefined || !isPlain(route) || !staysOnGateway(route)) return null
  const { path, prefix } = redirect
  const isSame =
    path === undefined ? prefix === undefined || match.path === `${prefix}/*` : path === match.path
  if (isSame) return route
  if (path === undefined || path.includes('{') || path.includes('$')) return null
  const next = exact.get(placeOf(route, path))
  if (next !== undefined) return next
  return routes.every((one) => covers(one, path) === (one === route)) ? route : null
}

/** True if the redirect keeps scheme, port and host. */
function staysOnGateway({ redirect, match }: RouteDocument): boolean {
  const { scheme, port, host } = redirect!
  const { hosts } = match
  return (
    scheme === undefined &&
    port === undefined &&
    (host === undefined || (hosts.length === 1 && hosts[0] === host))
  )
}

function covers(route: RouteDocument, path: string): boolean {
  const pattern = patternOf(route)
  const literal = parsePathPattern(path)
  return !isIssue(pattern) && !isIssue(literal) && coversPath(pattern, literal)
}

function placeOf({ match }: RouteDocument, path: string): string {
  return JSON.stringify([[...match.hosts].sort(), path])
}
