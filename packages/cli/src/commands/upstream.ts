import { AdminClient } from '../admin/admin-client.js'
import type { AnswerPart } from '../admin/answer-part.js'
import { type Confirmable, confirm } from '../input/confirm.js'
import type { OutputOptions, ServerOptions } from '../input/options.js'
import { Failure } from '../output/failure.js'
import { print, printResult, printTable } from '../output/output.js'
import { type Cell, kept, minor } from '../output/table.js'
import { countText } from '../output/text.js'

const HEADINGS = [
  'UPSTREAM',
  minor('BALANCE', 1),
  kept('TARGET'),
  minor('ROLE', 3),
  minor('WEIGHT', 2),
  'STATE',
  minor('ACTIVE', 4),
  minor('ATTEMPTS', 5),
  'FAILURES',
]

/** Prints the targets of all upstreams, with the counters of all workers. */
export async function listUpstreams(options: OutputOptions & ServerOptions): Promise<void> {
  const { part } = await new AdminClient(options).get('/v1/upstreams')
  await printResult(part.value, options.output, () => {
    const upstreams = part.parts('upstreams')
    if (options.output === 'wide')
      printTable([...HEADINGS, ...WIDE_HEADINGS], upstreams.flatMap(wideRows), 'wide')
    else printTable(HEADINGS, upstreams.flatMap(targetRows))
  })
}

const WIDE_HEADINGS = ['RETRIES', 'WAITS', 'SHED']
const WIDE_NUMBERS = ['gw_upstream_retries_total', 'gw_upstream_waits_total', 'gw_upstream_shed_total']

/** Returns rows with the counters of the whole upstream. */
function wideRows(upstream: AnswerPart): Cell[][] {
  const numbers = upstream.part('numbers')
  return targetRows(upstream).map((row) => [
    ...row,
    ...WIDE_NUMBERS.map((name) => numbers.numberOrNull(name) ?? 0),
  ])
}

function targetRows(upstream: AnswerPart): Cell[][] {
  return upstream.parts('targets').map((target) => {
    const numbers = target.part('numbers')
    return [
      upstream.text('name'),
      upstream.text('balance'),
      target.text('url'),
      target.text('role') === 'canary'
        ? `canary, ${canaryText(upstream.part('canary'))}`
        : target.text('role'),
      target.number('weight'),
      stateText(target.part('state')),
      numbers.numberOrNull('gw_upstream_active') ?? 0,
      numbers.numberOrNull('gw_upstream_attempts_total') ?? 0,
      numbers.numberOrNull('gw_upstream_failures_total') ?? 0,
    ]
  })
}

/** Returns the state that all workers see, or the number of workers per state. */
export function stateText(state: AnswerPart): string {
  const seen = Object.entries(state.part('workers').value as Readonly<Record<string, number>>)
  return seen.length === 1 ? seen[0]![0] : seen.map(([name, count]) => `${count} ${name}`).join(', ')
}

/** Returns the canary's share and key, and the number of workers that have aborted it. */
export function canaryText(canary: AnswerPart): string {
  const share = `${Number((canary.number('percent') * 100).toFixed(4))}% by ${canary.text('key')}`
  const aborted = canary.number('abortedWorkers')
  return aborted === 0 ? share : `${share}, aborted in ${countText(aborted, 'worker')}`
}

const HEALTH_HEADINGS = [
  'UPSTREAM',
  kept('TARGET'),
  minor('DRAINED', 2),
  'HEALTH',
  minor('WORKERS', 1),
  'PROBLEM',
]

/** Prints the state of the targets of all upstreams, or of one. */
export async function showHealth(
  options: OutputOptions & ServerOptions,
  name: string | undefined,
): Promise<void> {
  const { part } = await new AdminClient(options).get('/v1/upstreams')
  const upstreams = part.parts('upstreams').filter((each) => name === undefined || each.text('name') === name)
  if (name !== undefined && upstreams.length === 0)
    throw new Failure(`there is no upstream '${name}'; gw upstream list shows all`)
  await printResult({ upstreams: upstreams.map(healthOf) }, options.output, () =>
    printTable(HEALTH_HEADINGS, upstreams.flatMap(healthRows)),
  )
}

/** Drains a target, or all targets of an upstream after confirmation. */
export async function drain(
  options: OutputOptions & ServerOptions & Confirmable,
  upstream: string,
  target: string | undefined,
): Promise<void> {
  if (target === undefined)
    await confirm(`drain all targets of '${upstream}'? Its requests will be answered with 503.`, options)
  await new AdminClient(options).post('/v1/upstreams/drain', { upstream, target })
  await printResult({ upstream, target: target ?? null, drained: true }, options.output, () =>
    print(`drained: ${target ?? `all targets of ${upstream}`}; gw upstream undrain reverses it`),
  )
}

/** Ends the drain of a target, or of all targets of an upstream. */
export async function undrain(
  options: OutputOptions & ServerOptions,
  upstream: string,
  target: string | undefined,
): Promise<void> {
  await new AdminClient(options).post('/v1/upstreams/undrain', { upstream, target })
  await printResult({ upstream, target: target ?? null, drained: false }, options.output, () =>
    print(`in service again: ${target ?? `all targets of ${upstream}`}`),
  )
}

function healthOf(upstream: AnswerPart): object {
  const targets = upstream.parts('targets').map((target) => ({
    url: target.text('url'),
    ...(target.part('state').value as object),
  }))
  return { name: upstream.text('name'), targets }
}

function healthRows(upstream: AnswerPart): Cell[][] {
  return upstream.parts('targets').map((target) => {
    const { drained, health, workers, problem, endpoints } = target.part('state').value as {
      readonly drained: boolean
      readonly health: string
      readonly workers: Readonly<Record<string, number>>
      readonly problem: string | null
      readonly endpoints?: number
    }
    const seen = Object.entries(workers).map(([state, count]) => `${count} ${state}`)
    return [
      upstream.text('name'),
      target.text('url'),
      drained ? 'yes' : 'no',
      endpoints === undefined ? health : countText(endpoints, 'pod'),
      seen.join(', '),
      problem ?? '',
    ]
  })
}
