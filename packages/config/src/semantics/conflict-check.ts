import type { DocumentPath } from '../diagnostic/document-path.js'
import { isIssue } from '../diagnostic/issue.js'
import { normalHost } from '../grammar/host.js'
import type { PathPlan } from '../plan/plan.js'
import type { RouteDocument } from '../schema/document.js'
import type { Inspection } from './inspection.js'
import { patternOf } from './route-cover.js'

interface Seen {
  readonly route: RouteDocument
  readonly path: DocumentPath
}

/**
 * Reports routes that cannot be ordered: they share a host pattern (or have none), a method, the priority,
 * the path shape and all other predicates. Which of them wins would be arbitrary.
 */
export function checkConflicts(inspection: Inspection): void {
  const { document, origins, report } = inspection
  const seen = new Map<string, Seen[]>()
  for (const [route, path] of origins.entries(document.routes, ['routes'])) {
    if (!report.isValid([...path, 'match']) || !report.isValid([...path, 'priority'])) continue
    const rival = rememberAndFindRival(seen, { route, path })
    if (rival !== null) reportConflict(inspection, rival, { route, path })
  }
}

function rememberAndFindRival(seen: Map<string, Seen[]>, one: Seen): Seen | null {
  let rival: Seen | null = null
  for (const key of keysOf(one.route)) {
    const others = seen.get(key)
    if (others === undefined) {
      seen.set(key, [one])
      continue
    }
    rival ??= others.find((other) => shareMethod(other.route, one.route)) ?? null
    others.push(one)
  }
  return rival
}

const keys = new WeakMap<RouteDocument, readonly string[]>()

function keysOf(route: RouteDocument): readonly string[] {
  const known = keys.get(route) ?? makeKeys(route)
  keys.set(route, known)
  return known
}

/** Returns one key per host. Routes that share a key differ at most in their methods. */
function makeKeys(route: RouteDocument): readonly string[] {
  const { hosts, headers, query, when, path } = route.match
  const shape = patternOf(route)
  const others = [
    route.priority,
    isIssue(shape) ? path : shapeOf(shape),
    predicates(headers, true),
    predicates(query, false),
    when,
  ]
  const patterns = hosts.length === 0 ? [''] : new Set(hosts.map(normalHost))
  return [...patterns].map((host) => JSON.stringify([host, ...others]))
}

/** Returns the path without the names of its parameters. */
function shapeOf({ kind, segments }: PathPlan): string {
  const parts = segments.map((segment) => (segment.kind === 'param' ? '{}' : segment.text))
  return `${kind} ${parts.join('/')}`
}

function predicates(tests: Readonly<Record<string, unknown>>, ignoresCase: boolean): string[] {
  return Object.entries(tests)
    .map(([name, test]) => JSON.stringify([ignoresCase ? name.toLowerCase() : name, normalTest(test)]))
    .sort()
}

/** Expands a string, which is short for an exact test. */
function normalTest(test: unknown): unknown {
  return typeof test === 'string' ? { exact: test } : test
}

/**
 * True if two routes share a method. HEAD does not count as GET here, so a route for HEAD can coexist with
 * one for GET.
 */
function shareMethod(a: RouteDocument, b: RouteDocument): boolean {
  const [some, others] = [a.match.methods, b.match.methods]
  if (some.length === 0 || others.length === 0) return some.length === others.length
  const names = new Set(some.map((method) => method.toUpperCase()))
  return others.some((method) => names.has(method.toUpperCase()))
}

function reportConflict({ report }: Inspection, earlier: Seen, later: Seen): void {
  const first = report.quote(earlier.route.id, [...earlier.path, 'id'])
  const second = report.quote(later.route.id, [...later.path, 'id'])
  report.add({
    path: later.path,
    message: `the routes ${first} and ${second} match the same requests`,
    remedy: 'distinguish them by host, path, methods or another predicate, or give one a priority',
  })
}
