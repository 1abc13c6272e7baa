import { AdminClient } from '../admin/admin-client.js'
import type { AnswerPart } from '../admin/answer-part.js'
import { type Confirmable, confirm } from '../input/confirm.js'
import type { OutputOptions, ServerOptions } from '../input/options.js'
import { usageError } from '../output/failure.js'
import { print, printResult, printTable, say } from '../output/output.js'
import { type Cell, kept, minor } from '../output/table.js'

const HEADINGS = [
  'POLICY',
  'LIMIT',
  minor('SCOPE', 1),
  kept('KEY'),
  'USED',
  'REMAINING',
  minor('RESET AT', 2),
]

type CountOptions = OutputOptions & ServerOptions
type ResetOptions = CountOptions & Confirmable

/** The commands of `gw limits`. */
export const limits = { get: getter('/v1/limits'), reset: resetter('/v1/limits/reset') }
/** The commands of `gw quota` that are shared with `gw limits`. */
export const quota = { get: getter('/v1/quotas'), reset: resetter('/v1/quotas/reset') }

/** Sets the used amount of a quota. */
export async function setQuota(
  options: CountOptions,
  policy: string,
  key: string,
  used: string,
): Promise<void> {
  if (!/^\d{1,13}$/.test(used)) throw usageError(`'${used}' is not a valid amount; use a whole number`)
  const change = { policy, key, used: Number(used) }
  await showCounts(await new AdminClient(options).post('/v1/quotas/set', change), options)
}

/** The commands of `gw bans`. */
export const bans = {
  async list(options: CountOptions, policy?: string): Promise<void> {
    const query = policy === undefined ? '' : `?${new URLSearchParams({ policy })}`
    const { part } = await new AdminClient(options).get(`/v1/bans${query}`)
    await printResult(part.value, options.output, () =>
      printTable(
        ['POLICY', kept('CALLER'), kept('UNTIL')],
        part.parts('bans').map((ban) => [ban.text('policy'), ban.text('key'), ban.text('until')]),
      ),
    )
    if (part.value['isComplete'] === false) say('the list is incomplete; specify the policy')
  },
  async lift(options: ResetOptions, policy: string, key?: string): Promise<void> {
    if (key === undefined) await confirm(`end all bans of '${policy}'?`, options)
    const answer = await new AdminClient(options).post('/v1/bans/lift', { policy, key })
    await printResult(answer.value, options.output, () =>
      print(`lifted bans: ${answer.number('lifted')}; workers follow within a second`),
    )
  },
}

function getter(path: string) {
  return async (options: CountOptions, policy?: string, key?: string): Promise<void> => {
    const query = new URLSearchParams()
    if (policy !== undefined) query.set('policy', policy)
    if (key !== undefined) query.set('key', key)
    const { part } = await new AdminClient(options).get(`${path}?${query}`)
    await showCounts(part, options)
  }
}

function resetter(path: string) {
  return async (options: ResetOptions, policy: string, key?: string): Promise<void> => {
    if (key === undefined) await confirm(`reset all counters of '${policy}'?`, options)
    const answer = await new AdminClient(options).post(path, { policy, key })
    await printResult(answer.value, options.output, () =>
      print(`reset counters: ${answer.number('reset')}; workers follow within a second`),
    )
  }
}

async function showCounts(part: AnswerPart, { output }: OutputOptions): Promise<void> {
  await printResult(part.value, output, () => printTable(HEADINGS, part.parts('counts').map(rowOf)))
  if (part.value['isComplete'] === false) say('the list is incomplete; specify the policy')
}

function rowOf(count: AnswerPart): Cell[] {
  const key = count.text('key')
  return [
    count.text('policy'),
    count.text('limit'),
    count.text('place'),
    key === '' ? '(none)' : key,
    count.number('used'),
    count.number('remaining'),
    count.text('resetAt'),
  ]
}
