import { AdminClient } from '../admin/admin-client.js'
import type { AnswerPart } from '../admin/answer-part.js'
import type { OutputOptions, ServerOptions } from '../input/options.js'
import { EXIT } from '../output/failure.js'
import { isTable, printTable, printValue } from '../output/output.js'
import type { Cell } from '../output/table.js'
import { countText } from '../output/text.js'

const HEADINGS = ['UPSTREAM', 'BALANCE', 'TARGET', 'ROLE', 'WEIGHT', 'ACTIVE', 'ATTEMPTS', 'FAILURES']

/** Prints the targets of all upstreams, with the counters of all workers. */
export async function listUpstreams(options: OutputOptions & ServerOptions): Promise<number> {
  const { part } = await new AdminClient(options).get('/v1/upstreams')
  if (!isTable(options.output)) await printValue(part.value, options.output)
  else if (options.output === 'wide')
    printTable([...HEADINGS, ...WIDE_HEADINGS], part.parts('upstreams').flatMap(wideRows), 'wide')
  else printTable(HEADINGS, part.parts('upstreams').flatMap(targetRows))
  return EXIT.ok
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
      numbers.numberOrNull('gw_upstream_active') ?? 0,
      numbers.numberOrNull('gw_upstream_attempts_total') ?? 0,
      numbers.numberOrNull('gw_upstream_failures_total') ?? 0,
    ]
  })
}

/** Returns the canary's share and key, and the number of workers that have aborted it. */
function canaryText(canary: AnswerPart): string {
  const share = `${Number((canary.number('percent') * 100).toFixed(4))}% by ${canary.text('key')}`
  const aborted = canary.number('abortedWorkers')
  return aborted === 0 ? share : `${share}, aborted in ${countText(aborted, 'worker')}`
}
