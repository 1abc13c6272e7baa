import type { DocumentPath } from '../document-path.js'
import { isFlaw } from '../flaw.js'
import { parsePathPattern } from '../grammar/path-pattern.js'
import type { PathPlan } from '../plan.js'
import type { RouteDocument } from '../schema/document.js'
import { chainOf } from './consumer-check.js'
import type { Inspection } from './inspection.js'
import { coversPath, patternOf } from './route-cover.js'

interface OwnPath {
  readonly use: string
  readonly path: string
  /** Of the first entry that brings it. */
  readonly at: DocumentPath
  isMatched: boolean
}

/** Warns of paths that a policy answers itself, and that no route matches on which it stands. */
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
    const message = `no route with ${use} matches the path '${path}', which it answers itself`
    const remedy = 'have the route match it too, or list the policy in one that does'
    report.add({ path: at, severity: 'warning', message, remedy })
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

/** A regular expression may match it. */
function isMatchedBy(route: RouteDocument, path: string): boolean {
  const [pattern, own] = [patternOf(route), parsePathPattern(path)]
  if (isFlaw(pattern) || isFlaw(own)) return true
  return pattern.kind === 'regex' || coversPath(pattern, asExact(own))
}

function asExact(pattern: PathPlan): PathPlan {
  return { ...pattern, kind: 'exact' }
}
