import { extname } from 'node:path'
import { formatDiff, type PlanChange, type RouteCost, signed, totalCost } from '@sluice/config'
import { visibleText } from '@sluice/core'
import { MEASURED_ON } from '@sluice/policies'
import { type AdminAnswer, AdminClient } from '../admin/admin-client.js'
import type { AnswerPart } from '../admin/answer-part.js'
import { readSource } from '../input/document.js'
import type { DocumentOptions, OutputOptions, ServerOptions } from '../input/options.js'
import { EXIT, type ExitCode, Failure } from '../output/failure.js'
import { complain, type Format, print, printValue, say } from '../output/output.js'
import { countText, shortDigest } from '../output/text.js'
import { servingPlan } from './diff.js'

interface DeployOptions extends DocumentOptions, OutputOptions, ServerOptions {
  readonly dryRun?: boolean
  readonly note?: string
  readonly save?: boolean
  readonly force?: boolean
}

/** Longer than a rollout takes on the slowest worker. */
const TIMEOUT_MS = 120_000

/**
 * Deploys a document to a running gateway, which checks it. The changes are printed first, and are applied only if the
 * active configuration is still the same.
 */
export async function deploy(options: DeployOptions): Promise<number> {
  const source = await readSource(options.config)
  const client = new AdminClient(options)
  const { tag } = await servingPlan(client)
  const send = async (isTrial: boolean): Promise<DeployAnswer> => {
    const query = new URLSearchParams()
    if (isTrial) query.set('dryRun', '1')
    else if (options.save === true) query.set('save', '1')
    if (options.force === true) query.set('force', '1')
    if (options.note) query.set('note', options.note)
    const type = extname(source.name) === '.json' ? 'application/json' : 'application/yaml'
    const answer = await client.send({
      method: 'PUT',
      path: `/v1/config?${query}`,
      headers: { 'content-type': type, ...(tag === null ? {} : { 'if-match': tag }) },
      body: source.text,
      timeoutMs: TIMEOUT_MS,
    })
    return { answer, part: client.parsed(answer) }
  }
  const trial = await send(true)
  const result = trial.part.textOrNull('result')
  // An active document may not be saved to the file yet.
  const isAccepted = result === 'valid' || (result === 'unchanged' && options.save === true)
  if (isAccepted && options.output === 'table') print(...planned(trial.part))
  const { name } = source
  if (isAccepted)
    for (const warning of trial.part.parts('warnings')) say(diagnosticText(warning, name, 'warning: '))
  if (!isAccepted || options.dryRun === true) return report(trial, options.output, client, name)
  return report(await send(false), options.output, client, name)
}

interface DeployAnswer {
  readonly answer: AdminAnswer
  readonly part: AnswerPart
}

/** Formats the changes of a document, one per line. */
export function planned(part: AnswerPart): string[] {
  return formatDiff(changesOf(part)).map(visibleText)
}

/** Reads the changes of a document from a response. */
export function changesOf(part: AnswerPart): PlanChange[] {
  return part.parts('changes').map((change) => {
    const [kind, what] = [change.text('kind'), change.text('what')] as [
      PlanChange['kind'],
      PlanChange['what'],
    ]
    const cost = change.partOrNull('cost')
    const details = { name: change.text('name'), details: change.texts('details') }
    return { kind, what, ...details, ...(cost === null ? {} : { cost: costOf(cost) }) }
  })
}

function costOf(part: AnswerPart): RouteCost {
  const policies = part.parts('policies').map((policy) => ({
    use: policy.text('use'),
    uses: policy.number('uses'),
    addedMicros: policy.numberOrNull('addedMicros'),
  }))
  return { addedMicros: part.number('addedMicros'), policies }
}

/** Formats the total cost of the changes of a dry run. */
export function totalCostText(changes: readonly PlanChange[]): string {
  const { routes, addedMicros, unmeasured } = totalCost(changes)
  if (routes === 0) return 'cost per request: unchanged'
  const unknown = unmeasured.length === 0 ? '' : `, and the cost of ${unmeasured.join(', ')} is unknown`
  const where = routes === 1 ? 'in 1 route' : `in ${routes} routes together`
  return visibleText(
    `cost per request: ${signed(addedMicros)} µs ${where}${unknown}; measured on ${MEASURED_ON}`,
  )
}

/** Returns the result of a dry run with the total cost of its changes. */
export function withTotalCost(part: AnswerPart): object {
  const isTrial = part.textOrNull('result') === 'valid'
  return isTrial ? { ...part.value, cost: costValue(changesOf(part)) } : part.value
}

/** Returns the total cost of changes for JSON and YAML output. */
export function costValue(changes: readonly PlanChange[]): object {
  return { ...totalCost(changes), measuredOn: MEASURED_ON }
}

/**
 * Reports the result of a deployment and selects the exit code.
 * @param name local name of the document; by default, the gateway's name for it.
 */
export async function report(
  { answer, part }: DeployAnswer,
  format: Format,
  client: AdminClient,
  name?: string,
): Promise<ExitCode> {
  const exit = exitOf(answer, part)
  if (exit === EXIT.failed) throw new Failure(failureText(answer, client), exit)
  if (format !== 'table') await printValue(withTotalCost(part), format)
  else if (exit === EXIT.ok) print(...doneLines(part))
  else explainRefusal(exit, part, name)
  const notSaved = part.textOrNull('notSaved')
  if (notSaved === null) return exit
  throw new Failure(`the document is active, but could not be saved to the gateway file: ${notSaved}`)
}

function exitOf({ status }: AdminAnswer, part: AnswerPart): ExitCode {
  if (status === 200) return EXIT.ok
  if (status === 422) return EXIT.invalid
  return status === 409 && part.textOrNull('result') === 'rolled-back' ? EXIT.rolledBack : EXIT.failed
}

function failureText(answer: AdminAnswer, client: AdminClient): string {
  if (answer.status !== 412)
    return client.refused(answer).message.replace('see GET /v1/deploys', 'see gw history')
  return 'something else was deployed meanwhile; look at gw diff and deploy again'
}

function doneLines(part: AnswerPart): string[] {
  if (part.text('result') === 'valid') return validLines(part, 'applied')
  return [doneText(part)]
}

/** Formats the result of a dry run. */
export function validLines(part: AnswerPart, verb: 'applied' | 'deployed'): string[] {
  const changes = changesOf(part)
  const cost = changes.length === 0 ? [] : [totalCostText(changes)]
  return [...cost, `valid: ${countText(changes.length, 'change')}, nothing was ${verb}`]
}

function doneText(part: AnswerPart): string {
  const result = part.text('result')
  const digest = shortDigest(part.textOrNull('digest'))
  const saved = part.value['isSaved'] === true ? ', saved to the gateway file' : ''
  if (result === 'unchanged') return `unchanged: ${digest} is already active${saved}`
  return `applied: ${digest} is active on all workers${saved}`
}

function explainRefusal(exit: ExitCode, part: AnswerPart, name: string | undefined): void {
  if (exit === EXIT.invalid) {
    const mistakes = part.parts('diagnostics').map((mistake) => diagnosticText(mistake, name))
    complain(mistakes.join('\n'))
    say(
      'The gateway refused the document. It uses its own environment variables and files, not those of this shell. The previous document stays in use.',
    )
    return
  }
  for (const reason of part.parts('reasons')) {
    const worker = reason.number('worker')
    const who = worker === 0 ? 'supervisor' : `worker ${worker}`
    complain(visibleText(`${who}: ${reason.text('reason')}`))
  }
  say('rolled back: the previous configuration stays active')
}

/** Formats an error or a warning that the gateway found in a document. */
export function diagnosticText(part: AnswerPart, name = part.text('file'), label = ''): string {
  const position = `${name}:${part.number('line')}:${part.number('column')}`
  return visibleText(`${position}: ${label}${part.text('message')} (${part.text('remedy')})`)
}
