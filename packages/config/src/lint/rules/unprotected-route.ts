import { isIssue } from '../../diagnostic/issue.js'
import { normalHost } from '../../grammar/host.js'
import type { RouteDocument } from '../../schema/document.js'
import { literalBeginning, patternOf } from '../../semantics/route-cover.js'
import { decisionOf, type RouteChain, routeChains } from './chains.js'
import type { LintRule, LintSubject, RuleFinding } from './rule.js'

/** Reports routes without authentication, if routes with the same path prefix have it. */
export const unprotectedRoute: LintRule = {
  id: 'unprotected-route',
  severity: 'warning',
  title: 'A route has no authentication, but other routes with the same path prefix do.',
  why: 'Routes of one host and the same first path segment usually belong to one API. If only some of them have an authentication policy, it was probably forgotten on the others, and anyone can call them.',
  bad: `upstreams: { orders: { targets: ['http://10.0.0.1:80'] } }
policies:
  - { id: users, use: jwt, with: { audiences: [orders], jwks: { url: https://id.example.com/keys } } }
routes:
  - { id: orders, match: { path: /orders/* }, upstream: orders, policies: [users] }
  - { id: export, match: { path: /orders/export }, upstream: orders }
`,
  good: `upstreams: { orders: { targets: ['http://10.0.0.1:80'] } }
policies:
  - { id: users, use: jwt, with: { audiences: [orders], jwks: { url: https://id.example.com/keys } } }
routes:
  - { id: orders, match: { path: /orders/* }, upstream: orders, policies: [users] }
  - { id: export, match: { path: /orders/export }, upstream: orders, policies: [users] }
`,
  check(subject) {
    const protectors = new Map<string, string>()
    const open: RouteChain[] = []
    for (const one of routeChains(subject)) {
      const isProtected = one.chain.some((step) => decisionOf(step, subject) === 'access')
      if (isProtected)
        for (const key of areasOf(one.route)) protectors.set(key, protectors.get(key) ?? one.route.id)
      else if (one.route.upstream !== undefined && !answersItself(one, subject)) open.push(one)
    }
    return open.flatMap(({ route, path }): RuleFinding[] => {
      const sibling = areasOf(route)
        .map((key) => protectors.get(key))
        .find((id) => id !== undefined)
      if (sibling === undefined || isPreflight(route)) return []
      const message = `the route '${route.id}' has no authentication, but '${sibling}' with the same path prefix does`
      return [
        {
          path,
          message,
          remedy: `add the authentication policies of '${sibling}', or disable this rule for the route`,
        },
      ]
    })
  },
}

/** Returns each host with the first path segment. Routes for all paths are not compared. */
function areasOf(route: RouteDocument): readonly string[] {
  const pattern = patternOf(route)
  if (isIssue(pattern)) return []
  const isRegex = pattern.kind === 'regex' && pattern.segments[0]?.kind === 'literal'
  const [first] = isRegex ? literalBeginning(pattern.text.slice(1)) : pattern.segments
  if (first?.kind !== 'literal') return []
  const { hosts } = route.match
  return (hosts.length === 0 ? [''] : hosts.map(normalHost)).map((host) => `${host} ${first.text}`)
}

/** True if a policy of the route answers some paths itself, such as the callback of a login. */
function answersItself({ chain }: RouteChain, { catalog }: LintSubject): boolean {
  return chain.some(({ policy }) => {
    const kind = catalog.get(policy.use)
    return (
      kind?.decides?.(policy.with as never) === 'answer' ||
      (kind?.answersPaths?.(policy.with as never).length ?? 0) > 0
    )
  })
}

function isPreflight({ match }: RouteDocument): boolean {
  return match.methods.length > 0 && match.methods.every((method) => method.toUpperCase() === 'OPTIONS')
}
