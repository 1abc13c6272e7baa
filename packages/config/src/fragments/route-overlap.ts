import { isMapping } from '../diagnostic/document-path.js'
import { isIssue } from '../diagnostic/issue.js'
import { normalHost } from '../grammar/host.js'
import { parsePathPattern } from '../grammar/path-pattern.js'
import type { PathPlan } from '../plan/plan.js'
import { coversPath, hostsAround, literalBeginning } from '../semantics/route-cover.js'
import { isTemplate } from '../template/text-template.js'

const EVERYTHING: PathPlan = { text: '', kind: 'prefix', segments: [] }

/** Requests that a route may match, apart from other predicates. */
export interface RouteArea {
  /** A regular expression counts as the prefix that it begins with. */
  readonly path: PathPlan
  readonly isRegex: boolean
  /** Host patterns; empty text: any host. */
  readonly hosts: readonly string[]
  /** Methods in upper case; empty: any. */
  readonly methods: readonly string[]
}

/** Returns the requests that a route may match. Parts that are invalid or depend on references count as everything. */
export function areaOf(route: unknown): RouteArea {
  const match = isMapping(route) && isMapping(route['match']) ? route['match'] : {}
  const path = typeof match['path'] === 'string' ? parsePathPattern(match['path']) : EVERYTHING
  const hosts = literals(match['hosts']).map(normalHost)
  const methods = literals(match['methods']).map((method) => method.toUpperCase())
  return {
    path: isIssue(path) ? EVERYTHING : withoutRegex(path),
    isRegex: !isIssue(path) && path.kind === 'regex',
    hosts: hosts.length === 0 ? [''] : hosts,
    methods: methods.includes('GET') ? [...methods, 'HEAD'] : methods,
  }
}

/** True if a request may match both routes. */
export function overlap(a: RouteArea, b: RouteArea): boolean {
  if (!sharesPath(a, b)) return false
  const isAnyMethod = a.methods.length === 0 || b.methods.length === 0
  return (
    (isAnyMethod || a.methods.some((method) => b.methods.includes(method))) &&
    a.hosts.some((one) => b.hosts.some((other) => sharesHost(one, other)))
  )
}

/**
 * True if a route matches all paths of another one and more, so that it is its fallback. A regular expression never is: it
 * may match a few paths only, and the router tries it last.
 */
export function isWider(wide: RouteArea, narrow: RouteArea): boolean {
  if (wide.isRegex) return false
  return coversPath(wide.path, narrow.path) && !coversPath(narrow.path, wide.path)
}

function sharesHost(one: string, other: string): boolean {
  return hostsAround(one).includes(other) || hostsAround(other).includes(one)
}

/** Called for millions of pairs, so it allocates nothing. */
function sharesPath({ path: a }: RouteArea, { path: b }: RouteArea): boolean {
  const length = Math.min(a.segments.length, b.segments.length)
  if (a.segments.length > length && b.kind !== 'prefix') return false
  if (b.segments.length > length && a.kind !== 'prefix') return false
  for (let i = 0; i < length; i++) {
    const [one, other] = [a.segments[i]!, b.segments[i]!]
    if (one.kind === 'literal' && other.kind === 'literal' && one.text !== other.text) return false
  }
  return true
}

function withoutRegex(path: PathPlan): PathPlan {
  if (path.kind !== 'regex') return path
  const [source] = path.segments
  return { ...EVERYTHING, segments: literalBeginning(source?.kind === 'literal' ? source.text : '') }
}

/** Returns the strings of a list, or none if it has others: then it counts as absent. */
function literals(list: unknown): string[] {
  const items: unknown[] = Array.isArray(list) ? list : []
  return items.every((item) => typeof item === 'string' && !isTemplate(item)) ? (items as string[]) : []
}
