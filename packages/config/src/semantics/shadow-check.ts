import type { DocumentPath } from '../document-path.js'
import { isFlaw } from '../flaw.js'
import { normalHost } from '../grammar/host.js'
import type { PathPlan } from '../plan.js'
import type { RouteDocument } from '../schema/document.js'
import type { Inspection } from './inspection.js'
import { coversPath, coversPredicates, hostsAround, patternOf } from './route-cover.js'

/** A route with its path read. */
interface Placed {
  readonly route: RouteDocument
  readonly pattern: PathPlan
  readonly path: DocumentPath
}

/** Routes by host pattern and beginning of the path, so that a route is compared with few others. */
type Index = ReadonlyMap<string, readonly Placed[]>

/** Most routes under one key that a route is compared with: a document with more has them made by a program. */
const MAX_COMPARED = 200

/**
 * Warns of routes that no request can reach, because another one takes every request that they match and stands before
 * them: by its priority, or, for regular expressions, by its prefix or by its place in the document.
 */
export function checkShadows({ document, origins, report }: Inspection): void {
  const placed = origins.entries(document.routes, ['routes']).flatMap(([route, path]) => {
    const pattern = patternOf(route)
    return isFlaw(pattern) ? [] : [{ route, path, pattern }]
  })
  const index = indexOf(placed)
  for (const one of placed) {
    const takers = hostsOf(one.route).map((host) => takerOf(one, host, index))
    const [first] = takers
    if (first === undefined || takers.includes(undefined)) continue
    const message = `no request reaches the route ${report.quote(one.route.id, [...one.path, 'id'])}`
    const taker = report.quote(first.route.id, [...first.path, 'id'])
    const isLower = first.route.priority > one.route.priority
    report.add({
      path: one.path,
      severity: 'warning',
      message: `${message}: ${taker} takes them all`,
      remedy: isLower
        ? `give it at least the priority ${first.route.priority}, or remove it`
        : 'give it a priority',
    })
  }
}

function indexOf(placed: readonly Placed[]): Index {
  const index = new Map<string, Placed[]>()
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

/** Its first segment, where that is a literal. */
function keyOf({ kind, segments }: PathPlan): string {
  const [first] = segments
  if (kind === 'regex') return '~'
  return first?.kind === 'literal' ? first.text : ''
}

/** A route that takes everything that one takes on a host. */
function takerOf(one: Placed, host: string, index: Index): Placed | undefined {
  const keys = new Set([keyOf(one.pattern), '', '~', regexBeginning(one.pattern)])
  for (const around of hostsAround(host)) {
    for (const key of keys) {
      const taker = index.get(`${around} ${key}`)?.find((other) => takesAll(other, one, around === host))
      if (taker !== undefined) return taker
    }
  }
  return undefined
}

function regexBeginning({ kind, segments }: PathPlan): string {
  const source = kind === 'regex' && segments[0]?.kind === 'literal' ? segments[0].text : ''
  return /^\^\/([\w-]+)\//.exec(source)?.[1] ?? ''
}

function takesAll(other: Placed, one: Placed, isSameHost: boolean): boolean {
  return (
    other !== one &&
    comesBefore(other, one, isSameHost) &&
    coversPath(other.pattern, one.pattern) &&
    coversPredicates(other.route.match, one.route.match)
  )
}

/** What takes more requests is asked later, unless a priority says otherwise, or a regular expression comes last. */
function comesBefore(other: Placed, one: Placed, isSameHost: boolean): boolean {
  if (other.route.priority !== one.route.priority) return other.route.priority > one.route.priority
  if (!isSameHost || one.pattern.kind !== 'regex') return false
  if (other.pattern.kind !== 'regex') return other.pattern.kind !== 'any'
  return Number(other.path[1]) < Number(one.path[1])
}

function hostsOf({ match }: RouteDocument): readonly string[] {
  return match.hosts.length === 0 ? [''] : match.hosts.map(normalHost)
}
