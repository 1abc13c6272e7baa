import { filled } from '../draft.js'
import type { SourceObject } from '../source-object.js'

/** Order of routes with an expression, whose own order is unknown. */
const EXPRESSION_RANK = 990_000

/** Selection of requests by a route, except by the path. */
export interface Selection {
  readonly keys: object
  readonly conditions: readonly string[]
  /** Order among all routes: Kong prefers routes with more kinds of rules. */
  readonly rank: number
  /** Rules that are not mapped. The route then matches more requests, and is closed. */
  readonly missing: readonly string[]
}

/** Returns which requests a route takes. Rules that are not mapped are reported. */
export function selectionOf(route: SourceObject): Selection {
  const hosts = route.texts('hosts').map((one) => one.toLowerCase())
  const usable = hosts.filter((one) => /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(one))
  const trailing = hosts.filter((one) => /^[a-z0-9_.-]+\.\*$/.test(one))
  const others = hosts.filter((one) => !usable.includes(one) && !trailing.includes(one))
  const methods = route.texts('methods')
  const fields = route.object('headers')
  const headers = fields.keys().map((key) => [key.toLowerCase(), fields.texts(key)] as const)
  const patterns = headers.filter(([, values]) => values.some((one) => one.startsWith('~*')))
  const rules = ['expression', 'snis', 'sources', 'destinations'].filter(
    (key) => route.take(key) !== undefined,
  )
  const isPlain = hosts.length === usable.length
  const hostTests = hosts.map(hostTest)
  const conditions = [
    ...(isPlain || others.length > 0
      ? []
      : [hostTests.length > 1 ? `(${hostTests.join(' || ')})` : hostTests[0]!]),
    ...headers
      .filter((one) => !patterns.includes(one))
      .map(
        ([key, values]) =>
          `lower(req.header[${JSON.stringify(key)}]) in ${JSON.stringify(values.map((one) => one.toLowerCase()))}`,
      ),
  ]
  const kinds = [hosts, methods, headers, route.texts('paths')].filter((list) => list.length > 0).length
  return {
    keys: { hosts: isPlain ? filled(usable) : undefined, methods: filled(methods) },
    conditions,
    rank: rules.includes('expression')
      ? EXPRESSION_RANK
      : (kinds + rules.length) * 110_000 +
        Math.min(4, headers.length) * 20_000 +
        (hosts.some((one) => !one.includes('*')) ? 10_000 : 0),
    missing: [
      ...others.map((one) => unmapped(route, `host ${one}`)),
      ...patterns.map(([key]) => unmapped(route, `header ${key}`)),
      ...rules.map((key) => unmapped(route, key)),
    ],
  }
}

function hostTest(host: string): string {
  if (host.startsWith('*')) return `req.host.endsWith(${JSON.stringify(host.slice(1))})`
  if (host.endsWith('*')) return `req.host.startsWith(${JSON.stringify(host.slice(0, -1))})`
  return `req.host == ${JSON.stringify(host)}`
}

/** Reports a rule that is not mapped, and returns its text for `unprotected` of the route. */
export function unmapped(route: SourceObject, what: string, remedy = 'use match.when'): string {
  return route.unprotected(what, 'it is not supported, and a route for more requests stands for it', remedy)
}
