import type { Issue } from '../diagnostic/issue.js'
import { ANY_PATH, parsePathPattern } from '../grammar/path-pattern.js'
import type { PathPlan, PathSegment } from '../plan/plan.js'
import type { RouteDocument } from '../schema/document.js'

type Match = RouteDocument['match']

const patterns = new WeakMap<RouteDocument, PathPlan | Issue>()

/** Returns the parsed path pattern of a route, or the problem with it. Results are cached per route. */
export function patternOf(route: RouteDocument): PathPlan | Issue {
  const { path } = route.match
  const known = patterns.get(route) ?? (path === undefined ? ANY_PATH : parsePathPattern(path))
  patterns.set(route, known)
  return known
}

/** Regular expressions that match every path. */
const EVERYTHING: ReadonlySet<string> = new Set(['', '^', '^/', '/', '.*', '^.*', '^/.*', '^.*$', '^/.*$'])
/** Matches regular expressions with a literal prefix of whole segments. */
const BELOW = /^\^((?:\/[\w-]+)*)\/(?![*?{])/

/** Returns the host patterns that cover a given one, itself first; '' is any host. */
export function hostsAround(host: string): readonly string[] {
  if (host === '') return ['']
  const labels = host.replace(/^\*\./, '').split('.')
  const first = host.startsWith('*.') ? 0 : 1
  const wildcards = labels.slice(first).map((_, i) => `*.${labels.slice(first + i).join('.')}`)
  return [...new Set([host, ...wildcards, ''])]
}

/** True if `other` certainly matches every path that `one` matches. */
export function coversPath(other: PathPlan, one: PathPlan): boolean {
  if (other.kind === 'any') return true
  if (other.kind === 'regex') return coversAsRegex(sourceOf(other), one)
  if (other.kind === 'prefix' && other.segments.length === 0) return true
  if (one.kind === 'any') return false
  const segments = one.kind === 'regex' ? literalBeginning(sourceOf(one)) : one.segments
  if (other.kind === 'prefix') return beginsLike(segments, other.segments)
  const isWhole = one.kind === 'exact' || one.kind === 'template'
  return isWhole && segments.length === other.segments.length && beginsLike(segments, other.segments)
}

/**
 * True if the predicates of `other` hold for every request that satisfies those of `one`, apart from host and
 * path.
 */
export function coversPredicates(other: Match, one: Match): boolean {
  const areMethods =
    other.methods.length === 0 ||
    (one.methods.length > 0 && isSubset(upperCase(one.methods), upperCase(other.methods)))
  return (
    areMethods &&
    (other.when === undefined || other.when === one.when) &&
    isSubset(tests(other.headers, true), tests(one.headers, true)) &&
    isSubset(tests(other.query, false), tests(one.query, false))
  )
}

function coversAsRegex(source: string, one: PathPlan): boolean {
  return EVERYTHING.has(source) || (one.kind === 'regex' && sourceOf(one) === source)
}

function sourceOf({ segments }: PathPlan): string {
  const [first] = segments
  return first?.kind === 'literal' ? first.text : ''
}

/** Returns the literal segments that all paths of a regular expression begin with. */
export function literalBeginning(source: string): PathSegment[] {
  const text = BELOW.exec(source)?.[1] ?? ''
  // An alternative at the top level may have another prefix.
  if (text === '' || source.includes('|')) return []
  return text
    .slice(1)
    .split('/')
    .map((part) => ({ kind: 'literal', text: part }))
}

function beginsLike(segments: readonly PathSegment[], beginning: readonly PathSegment[]): boolean {
  return beginning.every((part, i) => {
    const segment = segments[i]
    if (segment === undefined) return false
    return part.kind === 'param' || (segment.kind === 'literal' && segment.text === part.text)
  })
}

function upperCase(methods: readonly string[]): string[] {
  return methods.map((method) => method.toUpperCase())
}

function isSubset(some: readonly string[], all: readonly string[]): boolean {
  return some.every((one) => all.includes(one))
}

/** Normalises predicates. A string is short for an exact test. */
function tests(predicates: Match['headers'] | Match['query'], ignoresCase: boolean): string[] {
  return Object.entries(predicates).map(([name, test]) =>
    JSON.stringify([
      ignoresCase ? name.toLowerCase() : name,
      typeof test === 'string' ? { exact: test } : test,
    ]),
  )
}
