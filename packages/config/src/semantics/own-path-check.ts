import type { DocumentPath } from '../diagnostic/document-path.js'
import { isIssue } from '../diagnostic/issue.js'
import { parsePathPattern } from '../grammar/path-pattern.js'
import type { RouteDocument } from '../schema/document.js'
import { chainOf } from './consumer-check.js'
import type { Inspection } from './inspection.js'
import { coversPath, patternOf } from './route-cover.js'

interface OwnPath {
  readonly use: string
  readonly path: string
  /** Path of the first chain entry that adds the policy. */
  readonly at: DocumentPath
  isMatched: boolean
}

/** Warns about paths that a policy answers itself, if no route with the policy matches them. */
export function checkOwnPaths(inspection: Inspection): void {
  const { document, origins, report } = inspection
  const found = new Map<string, OwnPath>()
  for (const [route, at] of origins.entries(document.routes, ['routes'])) {
    for (const { use, path, at: entry } of ownPathsOf(inspection, route, at)) {
      const known = found.get(`${use} ${path}`) ?? { use, path, at: entry, isMatched: false }
      known.isMatched ||= isMatchedBy(route, path)
      found.set(`${use} ${path}`, known)
    }
  }
  for (const { use, path, at, isMatched } of found.values()) {
    if (isMatched) continue
    const message = `no route with ${use} matches the path '${path}', which the policy answers`
    const remedy = 'match the path in that route, or add the policy to a route that matches it'
    report.add({ path: at, severity: 'warning', rule: 'unmatched-path', message, remedy })
  }
}

function ownPathsOf(
  inspection: Inspection,
  route: RouteDocument,
  at: DocumentPath,
): Omit<OwnPath, 'isMatched'>[] {
  return chainOf(inspection, route.policies, [...at, 'policies']).flatMap(({ policy, path: entry }) => {
    const { use } = policy
    const paths = inspection.catalog.get(use)?.answersPaths?.(policy.with as never) ?? []
    return paths.map((path) => ({ use, path, at: entry }))
  })
}

/** True if a route matches a path. Regular expressions are assumed to match. */
function isMatchedBy(route: RouteDocument, path: string): boolean {
  const [pattern, own] = [patternOf(route), parsePathPattern(path)]
  if (isIssue(pattern) || isIssue(own)) return true
  return pattern.kind === 'regex' || coversPath(pattern, { ...own, kind: 'exact' })
}
