import { rolledBackContents, visibleText } from '@sluice/core'
import type { AdminClient } from '../admin/admin-client.js'
import type { AnswerPart } from '../admin/answer-part.js'
import { documentBundle } from '../control/bundle-files.js'
import { CanaryLine } from '../control/canary-line.js'
import { controllerClient, groupPath } from '../control/controller-client.js'
import {
  type GroupDeployOptions,
  type GroupDeployResult,
  headTag,
  runDeploy,
  upload,
} from '../control/group-deploy.js'
import { readSource, type Source } from '../control/source-folder.js'
import { checkForElsewhere, readDocument } from '../input/document.js'
import type { DocumentOptions, OutputOptions, ServerOptions } from '../input/options.js'
import { EXIT, type ExitCode, Failure, usageError } from '../output/failure.js'
import { complain, print, printResult, printValue, say } from '../output/output.js'
import { countText, shortDigest } from '../output/text.js'
import { diagnosticText, planned, validLines, withTotalCost } from './deploy.js'
import { sayRollback } from './rollback-text.js'

/** Options of commands for a group of gateways. */
export interface GroupOptions extends OutputOptions, ServerOptions {
  readonly group: string
}

interface SourceOptions extends DocumentOptions {
  /** Team whose fragments are replaced. */
  readonly team?: string
}

interface DeployOptions extends GroupOptions, SourceOptions, GroupDeployOptions {
  readonly dryRun?: boolean
  readonly save?: boolean
  readonly abort?: boolean
}

/** Deploys a document and its files to all gateways of a group, or to none. Prints the changes first. */
export async function deployGroup(options: DeployOptions): Promise<number> {
  const { group, output, dryRun = false } = options
  if (options.abort === true) return abortDeploy(options)
  if (options.save === true) throw usageError('--save is for a single gateway; the controller stores bundles')
  const { bundle, name, ...body } = await readBundle(options)
  const client = controllerClient(options)
  const tag = await headTag(client, group)
  await upload(client, bundle)
  const call = { path: `${groupPath(group)}/deploys`, tag, onStep: stepPrinter(options) }
  const { manifest } = bundle
  const trial = await runDeploy(client, { ...call, body: { ...body, manifest, dryRun: true } }, options)
  const isValid = trial.part.textOrNull('result') === 'valid'
  if (isValid && output === 'table') print(...planned(trial.part))
  if (dryRun || !isValid) return report(client, trial, options, name)
  if (options.canary !== undefined) process.once('SIGINT', explainInterrupt)
  try {
    const started = await runDeploy(client, { ...call, body: { ...body, manifest } }, options)
    return await report(client, started, options)
  } finally {
    process.off('SIGINT', explainInterrupt)
  }
}

/** Reads a document with its files, or a source that the controller composes. @throws Failure */
async function readBundle({ config, team }: SourceOptions): Promise<Source & { readonly name?: string }> {
  const source = readSource(config, team)
  if (source !== null) return source
  const document = await readDocument(config)
  await checkForElsewhere(document)
  return { bundle: documentBundle(document), name: document.name }
}

async function abortDeploy(options: DeployOptions): Promise<ExitCode> {
  const part = await controllerClient(options).post(`${groupPath(options.group)}/abort`, {})
  await printResult(part.value, options.output, () =>
    print(`aborted deploy ${part.number('deploy')}; canaries return to the previous configuration`),
  )
  return EXIT.ok
}

/** Says on Ctrl-C that the controller continues, then ends the process as the signal would. */
function explainInterrupt(): void {
  say('\nthe deploy continues: see gw fleet, or abort it with gw deploy --abort and the same --group')
  process.kill(process.pid, 'SIGINT')
}

interface RollbackOptions extends GroupOptions, GroupDeployOptions {
  readonly to?: string
  readonly dryRun?: boolean
}

/** Deploys the bundle of an earlier deploy of a group again, or prints what that would change. */
export async function rollbackGroup(options: RollbackOptions): Promise<number> {
  const { group, to } = options
  const client = controllerClient(options)
  const { head, target } = await rollbackTarget(client, group, to)
  if (options.dryRun === true) {
    const [from, number] = [head, target].map((deploy) => String(deploy.number('deploy')))
    await printChanges(await deployDiff(client, { ...options, from: from!, to: number! }), options)
    return EXIT.ok
  }
  const body = { to: target.number('deploy') }
  const call = {
    path: `${groupPath(group)}/rollback`,
    body,
    tag: `"${head.text('digest')}"`,
    onStep: stepPrinter(options),
  }
  return report(client, await runDeploy(client, call, options), options)
}

/**
 * Finds the deploy with a number, or without one the newest that differs from the committed one and was not rolled back.
 * Says on stderr which it is.
 * @throws Failure if there is none
 */
async function rollbackTarget(client: AdminClient, group: string, to: string | undefined) {
  const number = to === undefined ? null : deployNumber(to)
  const { part } = await client.get(`${groupPath(group)}/deploys?limit=1000`)
  const committed = part.parts('deploys').filter((deploy) => deploy.text('status') === 'committed')
  const rolledBack = rolledBackContents(
    committed.toReversed().map((deploy) => ({
      content: deploy.text('digest'),
      isRollback: deploy.numberOrNull('rollbackTo') !== null,
    })),
  )
  const [head] = committed
  const isEarlier = (digest: string): boolean => digest !== head?.text('digest') && !rolledBack.has(digest)
  const target =
    number === null
      ? committed.find((deploy) => isEarlier(deploy.text('digest')))
      : part.parts('deploys').find((deploy) => deploy.number('deploy') === number)
  if (head === undefined || target === undefined) {
    const what = number === null ? 'no earlier deploy that was not rolled back' : `no deploy ${number}`
    throw new Failure(`the group '${group}' has ${what}; see gw history --group ${group}`)
  }
  const [at, actor, note] = [target.text('at'), target.text('actor'), target.text('note')]
  const wasRolledBack = rolledBack.has(target.text('digest'))
  sayRollback({ name: `deploy ${target.number('deploy')}`, at, actor, note, wasRolledBack })
  return { head, target }
}

interface DiffOptions extends GroupOptions, Partial<SourceOptions> {
  readonly from?: string
  readonly to?: string
  readonly exitCode?: boolean
}

/** Prints the changes between the bundle of a group and a document, or between two deploys. */
export async function diffGroup(options: DiffOptions): Promise<number> {
  if (options.config !== undefined && (options.from ?? options.to) !== undefined)
    throw usageError('--from and --to compare two deploys; use them without a document')
  const client = controllerClient(options)
  const part =
    options.config === undefined ? await deployDiff(client, options) : await documentDiff(client, options)
  await printChanges(part, options)
  return part.parts('changes').length > 0 && options.exitCode === true ? EXIT.differences : EXIT.ok
}

async function printChanges(part: AnswerPart, { output }: OutputOptions): Promise<void> {
  if (output !== 'table') await printValue(part.value, output)
  else if (part.parts('changes').length === 0) print('no differences')
  else print(...planned(part))
}

async function deployDiff(client: AdminClient, { group, from, to }: DiffOptions): Promise<AnswerPart> {
  const query = new URLSearchParams()
  if (from !== undefined) query.set('from', String(deployNumber(from)))
  if (to !== undefined) query.set('to', String(deployNumber(to)))
  return (await client.get(`${groupPath(group)}/diff?${query}`)).part
}

async function documentDiff(client: AdminClient, options: DiffOptions): Promise<AnswerPart> {
  const { bundle, name: _, ...source } = await readBundle({ ...options, config: options.config! })
  await upload(client, bundle)
  const body = { ...source, manifest: bundle.manifest, dryRun: true }
  const call = { path: `${groupPath(options.group)}/deploys`, body, onStep: () => {} }
  const { status, part, answer } = await runDeploy(client, call, {})
  if (status !== 200) throw client.refused(answer)
  return part
}

/** Parses the number of a deploy. @throws Failure */
export function deployNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw usageError(`'${text}' is not the number of a deploy; see gw history --group`)
}

/** Returns a function that prints the steps of a deploy to stderr. */
function stepPrinter({ output, group }: GroupOptions): (step: AnswerPart) => void {
  if (output !== 'table') return () => {}
  let members = 0
  let prepared = 0
  const line = new CanaryLine()
  return (step) => {
    const event = step.text('event')
    if (event === 'canary') line.show(step)
    if (event === 'started') {
      members = step.texts('members').length
      say(
        `deploy ${step.number('deploy')}: ${countText(members, 'gateway')} of ${group} ${members === 1 ? 'is' : 'are'} preparing`,
      )
    } else if (event === 'vote') {
      const name = visibleText(step.text('member'))
      if (step.text('vote') === 'refused')
        for (const reason of step.texts('reasons')) say(`${name}: ${visibleText(reason)}`)
      else say(`${name} is prepared (${++prepared} of ${members})`)
    }
  }
}

async function report(
  client: AdminClient,
  { status, part, answer }: GroupDeployResult,
  { output }: GroupOptions,
  name?: string,
): Promise<ExitCode> {
  const result = part.textOrNull('result')
  const isKnown = status === 200 || result === 'invalid' || result === 'aborted'
  if (!isKnown) throw client.refused({ ...answer, status, text: JSON.stringify(part.value) })
  if (output !== 'table') await printValue(withTotalCost(part), output)
  else printOutcome(part, name)
  if (result === 'invalid') return EXIT.invalid
  return result === 'aborted' ? EXIT.rolledBack : EXIT.ok
}

function printOutcome(part: AnswerPart, name: string | undefined): void {
  const result = part.text('result')
  const digest = shortDigest(part.textOrNull('digest'))
  if (result === 'invalid') {
    complain(
      part
        .parts('diagnostics')
        .map((one) => diagnosticText(one, name))
        .join('\n'),
    )
    say('nothing was changed')
  } else if (result === 'aborted') {
    complain(part.texts('reasons').map(visibleText).join('\n'))
    printReturned(part.parts('members'))
  } else if (result === 'unchanged') print(`unchanged: ${digest} is already the configuration of the group`)
  else if (result === 'valid') print(...validLines(part, 'deployed'))
  else printCommitted(part, digest)
}

/** @param canaries Canaries of an aborted deploy */
function printReturned(canaries: readonly AnswerPart[]): void {
  if (canaries.length === 0) say('aborted: all gateways keep the previous configuration')
  for (const canary of canaries) {
    const isBack = canary.text('outcome') === 'active'
    say(
      `aborted: ${visibleText(canary.text('name'))} ${isBack ? 'serves' : 'will return to'} the previous configuration${isBack ? ' again' : ''}`,
    )
  }
}

function printCommitted(part: AnswerPart, digest: string): void {
  const members = part.parts('members')
  const active = members.filter((member) => member.text('outcome') === 'active')
  const head = `committed: deploy ${part.number('deploy')} (${digest})`
  print(
    members.length === 0
      ? `${head}; the group has no gateways yet`
      : `${head} is active on ${active.length} of ${countText(members.length, 'gateway')}`,
  )
  for (const member of members) {
    const [name, outcome, reason] = [member.text('name'), member.text('outcome'), member.textOrNull('reason')]
    if (outcome === 'away') say(`${visibleText(name)} is away and gets it when it returns`)
    else if (outcome === 'pending')
      say(`${visibleText(name)} has not activated it yet${reason === null ? '' : `: ${visibleText(reason)}`}`)
  }
}
