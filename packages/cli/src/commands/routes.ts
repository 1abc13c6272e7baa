import { AdminClient } from '../admin/admin-client.js'
import type { AnswerPart } from '../admin/answer-part.js'
import type { OutputOptions, ServerOptions } from '../input/options.js'
import { Failure } from '../output/failure.js'
import { printResult, printTable, printValue } from '../output/output.js'
import { type Cell, kept } from '../output/table.js'
import { durationText } from '../output/text.js'

type RoutesOptions = OutputOptions & ServerOptions

const HEADINGS = ['ROUTE', 'HOSTS', 'METHODS', kept('PATH'), kept('GOES TO'), 'POLICIES']

/** Prints the routes of a gateway in order of precedence. */
export async function listRoutes(options: RoutesOptions): Promise<void> {
  const { part } = await new AdminClient(options).get('/v1/routes')
  await printResult(part.value, options.output, () => {
    const routes = part.parts('routes')
    if (options.output === 'wide') printTable([...HEADINGS, ...WIDE_HEADINGS], routes.map(wideRow), 'wide')
    else printTable(HEADINGS, routes.map(routeRow))
  })
}

/** Prints one route. */
export async function showRoute(options: RoutesOptions, id: string): Promise<void> {
  const { part } = await new AdminClient(options).get('/v1/routes')
  const routes = part.parts('routes')
  const route = routes.find((one) => one.text('id') === id)
  if (route === undefined) throw new Failure(unknownRoute(id, routes))
  await printValue(route.value, options.output)
}

function unknownRoute(id: string, routes: readonly AnswerPart[]): string {
  const near = routes.map((one) => one.text('id')).filter((one) => one.includes(id) || id.includes(one))
  const hint = near.length === 0 ? 'gw routes lists all' : `did you mean ${near.slice(0, 5).join(', ')}`
  return `there is no route '${id}'; ${hint}`
}

function routeRow(route: AnswerPart): string[] {
  const match = route.part('match')
  return [
    route.text('id'),
    match.texts('hosts').join(' ') || '*',
    match.texts('methods').join(' ') || '*',
    match.part('path').text('text') || '/*',
    destination(route.part('action')),
    policyNames(route) || '-',
  ]
}

const WIDE_HEADINGS = ['PRIORITY', 'API', 'HEADERS', 'QUERY', 'WHEN', 'TOTAL TIMEOUT']

/** Returns a row with the other match criteria and the timeout. */
function wideRow(route: AnswerPart): Cell[] {
  const match = route.part('match')
  const timeouts = route.partOrNull('timeouts')
  return [
    ...routeRow(route),
    route.numberOrNull('priority') ?? 0,
    route.partOrNull('api')?.text('name') ?? '-',
    predicates(match.parts('headers')),
    predicates(match.parts('query')),
    match.textOrNull('when') ?? '-',
    timeouts === null ? '-' : durationText(timeouts.number('totalMs')),
  ]
}

function predicates(parts: readonly AnswerPart[]): string {
  return parts.map((part) => part.text('name')).join(' ') || '-'
}

function destination(action: AnswerPart): string {
  const kind = action.text('kind')
  return kind === 'proxy' ? action.text('upstream') : `${kind} ${action.number('status')}`
}

function policyNames(route: AnswerPart): string {
  return route
    .parts('policies')
    .map((policy) => policy.text('use'))
    .join(' ')
}
