import { AdminClient } from '../admin/admin-client.js'
import type { AnswerPart } from '../admin/answer-part.js'
import type { OutputOptions, ServerOptions } from '../input/options.js'
import { EXIT, Failure } from '../output/failure.js'
import { isTable, print, printTable, printValue, say } from '../output/output.js'
import type { Cell } from '../output/table.js'
import { confirm } from './drain.js'

const HEADINGS = ['POLICY', 'LIMIT', 'PLACE', 'KEY', 'USED', 'REMAINING', 'RESET AT']

type CountOptions = OutputOptions & ServerOptions
type ResetOptions = CountOptions & { readonly yes?: boolean }

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
): Promise<number> {
  if (!/^\d{1,13}$/.test(used))
    throw new Failure(EXIT.usage, `'${used}' is not a valid amount; use a whole number`)
  return showCounts(await change(options, '/v1/quotas/set', { policy, key, used: Number(used) }), options)
}

/** The commands of `gw bans`. */
export const bans = {
  async list(options: CountOptions, policy?: string): Promise<number> {
    const query = policy === undefined ? '' : `?${new URLSearchParams({ policy })}`
    const { part } = await new AdminClient(options).get(`/v1/bans${query}`)
    if (!isTable(options.output)) await printValue(part.value, options.output)
    else printTable(['POLICY', 'CALLER', 'UNTIL'], part.parts('bans').map(banRow))
    if (part.value['isComplete'] === false) say('the list is incomplete; specify the policy')
    return EXIT.ok
  },
  async lift(options: ResetOptions, policy: string, key?: string): Promise<number> {
    await confirmAll(options, key, `end all bans of '${policy}'?`)
    const answer = await change(options, '/v1/bans/lift', { policy, key })
    if (!isTable(options.output)) await printValue(answer.value, options.output)
    else print(`lifted bans: ${answer.number('lifted')}; workers follow within a second`)
    return EXIT.ok
  },
}

function banRow(ban: AnswerPart): Cell[] {
  return [ban.text('policy'), ban.text('key'), ban.text('until')]
}

/**
 * Asks for confirmation if all keys are affected.
 * @throws Failure if it is denied
 */
async function confirmAll(options: ResetOptions, key: string | undefined, question: string): Promise<void> {
  if (key === undefined && options.yes !== true && !(await confirm(question)))
    throw new Failure(EXIT.failed, 'cancelled')
}

function getter(path: string) {
  return async (options: CountOptions, policy?: string, key?: string): Promise<number> => {
    const query = new URLSearchParams()
    if (policy !== undefined) query.set('policy', policy)
    if (key !== undefined) query.set('key', key)
    const { part } = await new AdminClient(options).get(`${path}?${query}`)
    return showCounts(part, options)
  }
}

function resetter(path: string) {
  return async (options: ResetOptions, policy: string, key?: string): Promise<number> => {
    await confirmAll(options, key, `reset all counters of '${policy}'?`)
    const answer = await change(options, path, { policy, key })
    if (!isTable(options.output)) await printValue(answer.value, options.output)
    else print(`reset counters: ${answer.number('reset')}; workers follow within a second`)
    return EXIT.ok
  }
}

async function change(options: ServerOptions, path: string, body: object): Promise<AnswerPart> {
  const client = new AdminClient(options)
  const headers = { 'content-type': 'application/json' }
  const answer = await client.send({ method: 'POST', path, headers, body: JSON.stringify(body) })
  if (answer.status !== 200) throw client.refused(answer)
  return client.parsed(answer)
}

async function showCounts(part: AnswerPart, { output }: OutputOptions): Promise<number> {
  if (isTable(output)) printTable(HEADINGS, part.parts('counts').map(rowOf))
  else await printValue(part.value, output)
  if (part.value['isComplete'] === false) say('the list is incomplete; specify the policy')
  return EXIT.ok
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
