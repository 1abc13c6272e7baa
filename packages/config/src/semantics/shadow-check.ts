import type { DocumentPath } from '../diagnostic/document-path.js'
import { isIssue } from '../diagnostic/issue.js'
import { normalHost } from '../grammar/host.js'
import type { PathPlan } from '../plan/plan.js'
import type { RouteDocument } from '../schema/document.js'
import type { Inspection } from './inspection.js'
import { coversPath, coversPredicates, hostsAround, patternOf } from './route-cover.js'

interface ParsedRoute {
  readonly route: RouteDocument
  readonly pattern: PathPlan
  readonly path: DocumentPath
}

/** Routes by host pattern and first path segment, so that each route is compared with few others. */
type Index = ReadonlyMap<string, readonly ParsedRoute[]>

/**
 * Maximum number of routes under one key that a route is compared with. Documents with more are generated.
 */
const MAX_COMPARED = 200

/**
 * Warns about routes that are never reached, because another route matches all their requests and takes
 * precedence: by its priority or, for regular expressions, because of its prefix or position in the document.
 */
export function checkShadows({ document, origins, report }: Inspection): void {
  const placed = origins.entries(document.routes, ['routes']).flatMap(([route, path]) => {
    const pattern = patternOf(route)
    return isIssue(pattern) ? [] : [{ route, path, pattern }]
  })
  const index = indexOf(placed)
  for (const one of placed) {
    const shadowing = hostsOf(one.route).map((host) => findShadowing(one, host, index))
    const [first] = shadowing
    if (first === undefined || shadowing.includes(undefined)) continue
    const message = `the route ${report.quote(one.route.id, [...one.path, 'id'])} is never reached`
    const shadowingId = report.quote(first.route.id, [...first.path, 'id'])
    const isLower = first.route.priority > one.route.priority
    report.add({
      path: one.path,
      severity: 'warning',
      rule: 'shadowed-route',
      message: `${message}: ${shadowingId} matches all its requests`,
      remedy: isLower
        ? `set its priority to at least ${first.route.priority}, or remove it`
        : 'set a higher priority',
    })
  }
}

function indexOf(placed: readonly ParsedRoute[]): Index {
  const index = new Map<string, ParsedRoute[]>()
  for (const one of placed) {
    for (const host of hostsOf(one.route)) {
      const key = `${host} ${keyOf(one.pattern)}`
      const known = index.get(key)
      if (known === undefined) index.set(key, [one])
      else if (known.length < MAX_COMPARED) known.push(one)
    }
  }
  return index
}

/** Returns the first segment if it is a literal. */
function keyOf({ kind, segments }: PathPlan): string {
  const [first] = segments
  if (kind === 'regex') return '~'
  return first?.kind === 'literal' ? first.text : ''
}

function findShadowing(one: ParsedRoute, host: string, index: Index): ParsedRoute | undefined {
  const keys = new Set([keyOf(one.pattern), '', '~', regexBeginning(one.pattern)])
  for (const around of hostsAround(host)) {
    for (const key of keys) {
      const found = index.get(`${around} ${key}`)?.find((other) => shadows(other, one, around === host))
      if (found !== undefined) return found
    }
  }
  return undefined
}

function regexBeginning({ kind, segments }: PathPlan): string {
  const source = kind === 'regex' && segments[0]?.kind === 'literal' ? segments[0].text : ''
  return /^\^\/([\w-]+)\//.exec(source)?.[1] ?? ''
}

function shadows(other: ParsedRoute, one: ParsedRoute, isSameHost: boolean): boolean {
  return (
    other !== one &&
    comesBefore(other, one, isSameHost) &&
    coversPath(other.pattern, one.pattern) &&
    coversPredicates(other.route.match, one.route.match)
  )
}

/**
 * True if `other` takes precedence although it matches more requests. This is only possible by priority, or
 * for regular expressions.
 */
function comesBefore(other: ParsedRoute, one: ParsedRoute, isSameHost: boolean): boolean {
  if (other.route.priority !== one.route.priority) return other.route.priority > one.route.priority
  if (!isSameHost || one.pattern.kind !== 'regex') return false
  if (other.pattern.kind !== 'regex') return other.pattern.kind !== 'any'
  return Number(other.path[1]) < Number(one.path[1])
}

function hostsOf({ match }: RouteDocument): readonly string[] {
  return match.hosts.length === 0 ? [''] : match.hosts.map(normalHost)
}
