import { type DocumentPath, formatPath } from '../diagnostic/document-path.js'
import { isIssue } from '../diagnostic/issue.js'
import { normalHost } from '../grammar/host.js'
import { ANY_PATH, parsePathPattern } from '../grammar/path-pattern.js'
import type { FieldPredicate, MatchPlan, PathPlan } from '../plan/plan.js'
import type { InlinedTexts } from '../reference/resolved-document.js'
import type { RouteDocument } from '../schema/document.js'

type MatchDocument = RouteDocument['match']
type PredicateDocument = MatchDocument['headers'][string]

/** Returns the plan of a route's match. Lists whose order has no meaning are sorted. */
export function matchPlan(match: MatchDocument, origin: Origin): MatchPlan {
  const shown = shownMatch(match, origin)
  return {
    hosts: distinct(match.hosts.map(normalHost)),
    path: pathPlan(match.path),
    methods: distinct(match.methods.map((method) => method.toUpperCase())),
    headers: predicates(match.headers, (name) => name.toLowerCase()),
    query: predicates(match.query, (name) => name),
    when: match.when ?? null,
    ...(shown === null ? {} : { shown }),
  }
}

/** Location of a match in the document, and the original strings there. */
interface Origin {
  readonly at: DocumentPath
  readonly inlined: InlinedTexts
}

/** Returns the path and hosts as written if they contain references. */
function shownMatch(
  { hosts }: MatchDocument,
  { at, inlined }: Origin,
): NonNullable<MatchPlan['shown']> | null {
  if (inlined.size === 0) return null
  const path = inlined.get(formatPath([...at, 'path'])) ?? null
  const written = hosts.map((host, i) => inlined.get(formatPath([...at, 'hosts', i])) ?? normalHost(host))
  const isShown = hosts.every((host, i) => normalHost(host) === written[i])
  return path === null && isShown ? null : { path, hosts: distinct(written) }
}

function pathPlan(text: string | undefined): PathPlan {
  const path = text === undefined ? ANY_PATH : parsePathPattern(text)
  if (isIssue(path)) throw new Error(`unchecked path: ${path.message}`)
  return path
}

function predicates(tests: MatchDocument['headers'], nameOf: (name: string) => string): FieldPredicate[] {
  const list = Object.entries(tests).map(([name, test]) => ({ name: nameOf(name), ...testOf(test) }))
  return list.sort((a, b) => (a.name < b.name ? -1 : 1))
}

function testOf(test: PredicateDocument): Pick<FieldPredicate, 'test' | 'value'> {
  if (typeof test === 'string') return { test: 'exact', value: test }
  if (test.prefix !== undefined) return { test: 'prefix', value: test.prefix }
  if (test.regex !== undefined) return { test: 'regex', value: test.regex }
  if (test.present !== undefined) return { test: test.present ? 'present' : 'absent', value: '' }
  return { test: 'exact', value: test.exact ?? '' }
}

function distinct(words: readonly string[]): string[] {
  return [...new Set(words)].sort()
}
