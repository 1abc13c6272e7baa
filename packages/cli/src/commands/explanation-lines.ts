import { hasUnreadSecret } from '@sluice/config'
import { formatSize, visibleText } from '@sluice/core'
import type { Explanation } from '@sluice/gateway'
import { tableLines } from '../output/table.js'
import { countText, durationText } from '../output/text.js'

type Route = NonNullable<Explanation['route']>
type Action = Route['action']
type Policy = Route['policies'][number]
type RejectedRoute = Explanation['losers'][number]

/** Maximum number of routes with another host or path to list; more are counted. */
const MAX_FAR = 10

/** Formats an explanation as text. */
export function explanationLines(explanation: Explanation, isComplete: boolean): string[] {
  const { request, route, losers } = explanation
  const query = request.query === '' ? '' : `?${request.query}`
  const head = `${request.method} ${request.scheme}://${request.host}${request.path}${query}, from ${request.clientIp}`
  return [
    visibleText(head),
    ...verdictLines(explanation),
    ...(route === null ? [] : routeLines(route)),
    ...rejectedRouteLines(losers, isComplete),
  ]
}

function verdictLines({ outcome, refusal, route }: Explanation): string[] {
  if (outcome === 'health') return ['answered by the listener as a health check']
  if (route !== null) return [`handled by route ${route.id}, path ${route.path}`]
  return [`refused with ${refusal?.status} ${refusal?.code}: ${refusal?.detail}`]
}

function routeLines(route: Route): string[] {
  const params = Object.entries(route.params).map(([name, value]) => `${name}=${visibleText(value)}`)
  const facts: [string, string][] = [
    ...apiFacts(route.api),
    ...(params.length > 0 ? [['parameters', params.join('  ')] as [string, string]] : []),
    ...actionFacts(route.action),
    ...(route.timeouts === null ? [] : [['timeouts', timeoutsText(route.timeouts)] as [string, string]]),
    ['limits', limitsText(route.limits)],
    ['policies', route.policies.length === 0 ? 'none' : 'in this order'],
  ]
  return ['', ...facts.map(([name, text]) => `  ${name.padEnd(12)}${text}`), ...policyLines(route.policies)]
}

function apiFacts(api: Route['api']): [string, string][] {
  if (api === null) return []
  const { name, group, revision } = api
  const notes = [
    ...(group === null ? [] : [`of ${group}`]),
    ...(revision === null ? [] : [`revision ${revision}`]),
  ]
  return [['api', [name, ...notes].join(', ')]]
}

const CANARY_TEXTS = {
  match: 'yes, matches canary.match',
  key: 'yes, its key is in canary.percent',
  none: 'not for this request',
} as const

function actionFacts(action: Action): [string, string][] {
  if (action.kind === 'respond') return [['answers', `${action.status}, without an upstream`]]
  if (action.kind === 'redirect') {
    return [
      ['redirects', `${action.status} to ${action.location ?? 'a location that depends on a reference'}`],
    ]
  }
  const targets = action.targets.map(({ url, weight, role, priority, srv }) => {
    const notes = [
      ...(srv === null ? [] : [`service ${srv}`]),
      ...(weight === 1 ? [] : [`weight ${weight}`]),
      ...(role === 'primary' ? [] : [role]),
      ...(priority === 1 ? [] : [`priority ${priority}`]),
    ]
    return notes.length === 0 ? url : `${url} (${notes.join(', ')})`
  })
  return [
    ['upstream', `${action.upstream}, ${action.balance}: ${targets.join(', ')}`],
    ...(action.canary === null ? [] : [['canary', CANARY_TEXTS[action.canary]] as [string, string]]),
    ...(action.mirrored === 0
      ? []
      : [['mirror', `${action.mirrored * 100} % of the requests`] as [string, string]]),
    [
      'gets',
      `${action.path ?? 'a path that depends on a reference'}, Host ${action.host ?? 'of the target'}`,
    ],
  ]
}

function timeoutsText({ connectMs, headersMs, idleMs, totalMs }: NonNullable<Route['timeouts']>): string {
  const times = { connect: connectMs, headers: headersMs, idle: idleMs, total: totalMs }
  return Object.entries(times)
    .map(([name, ms]) => `${name} ${durationText(ms)}`)
    .join(', ')
}

function limitsText({ bodyBytes, urlBytes, headerBytes, headers, bodyIdleMs }: Route['limits']): string {
  return [
    `body ${formatSize(bodyBytes)}`,
    `idle time ${durationText(bodyIdleMs)}`,
    `URL ${formatSize(urlBytes)}`,
    `headers ${formatSize(headerBytes)} in ${countText(headers, 'field')}`,
  ].join(', ')
}

function policyLines(policies: readonly Policy[]): string[] {
  return policies.flatMap((policy, i) => {
    const { id, use, when, verdict, onError, with: settings } = policy
    const name = id === use ? use : `${use} (${id})`
    const origin = policy.plugin === null ? '' : `, of the plugin ${policy.plugin}`
    const failure = onError === 'continue' ? ', errors are ignored' : ''
    return [
      `    ${i + 1}. ${name}${verdictText(verdict)}${failure}${origin}`,
      `       costs ${costText(policy)}`,
      ...(when === null ? [] : [`       when ${when}`]),
      ...policy.meaning.map((sentence) => `       ${visibleText(sentence)}`),
      ...decisionLines(policy),
      `       with ${JSON.stringify(settings)}`,
    ]
  })
}

function decisionLines({ decision, verdict }: Policy): string[] {
  if (decision === null || verdict === 'false') return []
  const { refusal, reason } = decision
  if (refusal === null) return ['       this consumer is allowed']
  return [`       this consumer is refused with ${refusal}${reason === '' ? '' : `: ${reason}`}`]
}

function costText({ cost, measured, buffers, with: settings }: Policy): string {
  const kind = cost === 'cheap' ? 'little' : cost === 'cpu' ? 'CPU time' : 'a call to another server'
  const text = measured === null ? kind : `${kind}: ${measuredText(measured)}`
  if (buffers === null && hasUnreadSecret(settings))
    return `${text}; not compiled without its secret in Vault`
  if (buffers === null) return `${text}; does not compile`
  const held = buffers.map((side) => `${side} body`).join(' and ')
  return held === '' ? text : `${text}; holds the ${held} in memory`
}

/** Formats the measured cost. For the method see docs/internals/performance.md. */
function measuredText({ addedMicros, requestMicros, request }: NonNullable<Policy['measured']>): string {
  const added = addedMicros < 1 ? 'less than 1' : String(Math.round(addedMicros))
  return `${added} µs where the request itself took ${Math.round(requestMicros)} (${request})`
}

function verdictText(verdict: Policy['verdict']): string {
  if (verdict === 'always') return ''
  if (verdict === 'unknown') return ', if its condition is true at that time'
  if (verdict === 'fails') return ', but its condition cannot be evaluated'
  return verdict === 'true' ? ', its condition is true' : ', skipped: its condition is false'
}

/** Formats the other routes: near misses first, and only a few with another host or path. */
function rejectedRouteLines(losers: readonly RejectedRoute[], isComplete: boolean): string[] {
  if (losers.length === 0) return []
  const isFar = ({ failed }: RejectedRoute): boolean => failed === 'host' || failed === 'path'
  const far = losers.filter(isFar)
  const shown = [
    ...losers.filter((loser) => !isFar(loser)),
    ...far.slice(0, isComplete ? undefined : MAX_FAR),
  ]
  const rows = shown.map(({ id, path, reason }) => [id, path, reason])
  const rest = losers.length - shown.length
  return [
    '',
    ...tableLines(['OTHER ROUTE', 'PATH', 'WHY NOT'], rows),
    ...(rest === 0
      ? []
      : [`and ${countText(rest, 'more route')} with other hosts or paths; --all lists them`]),
  ]
}
