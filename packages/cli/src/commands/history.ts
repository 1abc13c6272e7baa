import { visibleText } from '@sluice/core'
import { AdminClient } from '../admin/admin-client.js'
import type { AnswerPart } from '../admin/answer-part.js'
import type { OutputOptions, ServerOptions } from '../input/options.js'
import { print, printResult, printTable } from '../output/output.js'
import { minor } from '../output/table.js'
import { ageText, shortDigest } from '../output/text.js'
import { planned, report } from './deploy.js'
import { type RollbackFacts, sayRollback } from './rollback-text.js'

const HEADINGS = ['DEPLOY', 'AGE', 'CONFIG', minor('FROM', 1), 'BY', 'NOTE']
/** Timeout in milliseconds, longer than any rollout. */
const TIMEOUT_MS = 120_000

/** Prints the deployed documents. */
export async function history(options: OutputOptions & ServerOptions): Promise<void> {
  const { part } = await new AdminClient(options).get('/v1/deploys')
  await printResult(part.value, options.output, () => {
    const serving = part.textOrNull('digest')
    const rows = part.parts('deploys').map((deploy) => deployRow(deploy, serving))
    printTable(HEADINGS, rows, options.output)
  })
}

function deployRow(deploy: AnswerPart, serving: string | null): string[] {
  const digest = deploy.text('digest')
  const age = ageText(Date.now() - Date.parse(deploy.text('at')))
  const mark = digest === serving ? `${shortDigest(digest)} *` : shortDigest(digest)
  const texts = [deploy.text('origin'), deploy.text('actor'), deploy.text('note')]
  return [deploy.text('id'), age, mark, ...texts.map(visibleText)]
}

interface RollbackOptions extends OutputOptions, ServerOptions {
  readonly to?: string
  readonly dryRun?: boolean
  readonly note?: string
  readonly force?: boolean
}

/** Deploys an earlier document. Prints the changes first. */
export async function rollback(options: RollbackOptions): Promise<number> {
  const client = new AdminClient(options)
  const trial = await sendRollback(client, options, true)
  const target = trial.part.partOrNull('rollback')
  if (target !== null) sayRollback(rolledBackDeploy(target))
  const isAccepted = trial.part.textOrNull('result') === 'valid'
  if (isAccepted && options.output === 'table') print(...planned(trial.part))
  if (!isAccepted || options.dryRun === true) return report(trial, options.output, client)
  const to = target?.text('id') ?? options.to
  const request = to === undefined ? options : { ...options, to }
  return report(await sendRollback(client, request, false), options.output, client)
}

function rolledBackDeploy(target: AnswerPart): RollbackFacts {
  const [at, actor, note] = [target.text('at'), target.text('actor'), target.text('note')]
  return {
    name: `deploy ${target.text('id')}`,
    at,
    actor,
    note,
    wasRolledBack: target.flag('wasRolledBack'),
  }
}

async function sendRollback(client: AdminClient, options: RollbackOptions, isTrial: boolean) {
  const { to, note = '', force = false } = options
  const answer = await client.send({
    method: 'POST',
    path: `/v1/rollback?dryRun=${isTrial ? 1 : 0}&force=${force ? 1 : 0}`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ to: to ?? null, note }),
    timeoutMs: TIMEOUT_MS,
  })
  return { answer, part: client.parsed(answer) }
}
