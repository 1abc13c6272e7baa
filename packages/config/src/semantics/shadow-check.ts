import type { DocumentPath } from '../document-path.js'
import type { RouteDocument } from '../schema/document.js'
import type { Inspection } from './inspection.js'

/** Regular expressions that every path matches. */
const EVERYTHING: ReadonlySet<string> = new Set([
  '~',
  '~^',
  '~^/',
  '~/',
  '~.*',
  '~^.*',
  '~^/.*',
  '~^.*$',
  '~^/.*$',
])

interface Placed {
  readonly route: RouteDocument
  readonly path: DocumentPath
}

/**
 * Warns of regular expressions that no request can reach, because an earlier one on the same hosts matches every
 * path, or because a route has the prefix `/*`, which precedence asks before any regular expression.
 */
export function checkShadows({ document, origins, report }: Inspection): void {
  const placed = origins.entries(document.routes, ['routes']).map(([route, path]) => ({ route, path }))
  const catchAlls = catchAllsByHost(placed)
  for (const one of placed) {
    const { route, path } = one
    if (route.match.path?.startsWith('~') !== true) continue
    const shadows = hostsOf(route).map((host) =>
      catchAlls.get(host)?.find((other) => comesBefore(other, one)),
    )
    const [first] = shadows
    if (first === undefined || shadows.includes(undefined)) continue
    const message = `no request reaches the route ${report.quote(route.id, [...path, 'id'])}`
    const taker = report.quote(first.route.id, [...first.path, 'id'])
    report.add({
      path,
      severity: 'warning',
      message: `${message}: ${taker} takes every path`,
      remedy: 'give it a priority',
    })
  }
}

function catchAllsByHost(placed: readonly Placed[]): Map<string, Placed[]> {
  const byHost = new Map<string, Placed[]>()
  for (const one of placed.filter(({ route }) => isCatchAll(route))) {
    for (const host of hostsOf(one.route)) byHost.set(host, [...(byHost.get(host) ?? []), one])
  }
  return byHost
}

/** Conflicts allow one `/*` for each host and priority, so the list of a host is short. */
function isCatchAll({ match }: RouteDocument): boolean {
  const { path = '', methods, headers, query, when } = match
  const isBare =
    methods.length === 0 && when === undefined && Object.keys({ ...headers, ...query }).length === 0
  return isBare && (path === '/*' || EVERYTHING.has(path))
}

function comesBefore(other: Placed, one: Placed): boolean {
  if (other.route.priority !== one.route.priority) return other.route.priority > one.route.priority
  return other.route.match.path === '/*' || Number(other.path[1]) < Number(one.path[1])
}

function hostsOf({ match }: RouteDocument): readonly string[] {
  return match.hosts.length === 0 ? [''] : match.hosts.map((host) => host.toLowerCase())
}
