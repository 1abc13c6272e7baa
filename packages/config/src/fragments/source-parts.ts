import { isIssue } from '../diagnostic/issue.js'
import { parsePathPattern } from '../grammar/path-pattern.js'

/** File with everything that does not belong to a team: listeners, shared upstreams and policies, routes for all. */
export const BASE_FILE = 'base.yaml'
/**
 * Pattern of team names. They contain no separators, so that `TEAM-` at the start of an id and `TEAM_` at the start of
 * a variable always mean one team.
 */
export const TEAM_PATTERN = '^(?!base$)[a-z][a-z0-9]{0,31}$'

/** A team, and the paths that its routes may match. */
export interface TeamScope {
  readonly team: string
  /** Path prefixes such as `/payments`. */
  readonly routes: readonly string[]
}

/**
 * Returns the part of a source folder that a file belongs to: `base`, or the team of `fragments/TEAM/FILE.yaml` and of
 * files in folders below. Returns null if a source must not contain the file.
 */
export function partOf(path: string): string | null {
  if (!/^fragments(\/|$)/i.test(path)) return /^gateway\.yaml(\/|$)/i.test(path) ? null : 'base'
  const team = /^fragments\/([^/]+)\/(?:[^/]+\.yaml|[^/]+\/.+)$/.exec(path)?.[1]
  return team !== undefined && new RegExp(TEAM_PATTERN).test(team) ? team : null
}

/** True if a file is `base.yaml` or a fragment, and not a file that they name. */
export function isSourceDocument(path: string): boolean {
  return path === BASE_FILE || /^fragments\/[^/]+\/[^/]+\.yaml$/.test(path)
}

/** Returns the problem with a path prefix of a team, or null. It consists of literal segments in canonical form. */
export function routePrefixProblem(prefix: string): string | null {
  const pattern = parsePathPattern(prefix)
  if (isIssue(pattern)) return `${pattern.message} (${pattern.remedy})`
  const isLiteral =
    pattern.kind === 'exact' && pattern.segments.every((one) => one.kind === 'literal' && one.text)
  return isLiteral ? null : `'${prefix}' is not a path prefix such as /payments`
}
