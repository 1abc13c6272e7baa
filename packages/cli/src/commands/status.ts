import { setTimeout as sleep } from 'node:timers/promises'
import { formatSize, visibleText } from '@sluice/core'
import { AdminClient } from '../admin/admin-client.js'
import type { AnswerPart } from '../admin/answer-part.js'
import type { OutputOptions, ServerOptions } from '../input/options.js'
import { untilSignal } from '../input/until-signal.js'
import { EXIT, Failure } from '../output/failure.js'
import { type Format, isTable, print, printTable, printValue, say, turnPage } from '../output/output.js'
import { minor } from '../output/table.js'
import { ageText, countText, shortDigest } from '../output/text.js'
import { conditionLines, conditionsOf } from './status-conditions.js'

interface StatusOptions extends OutputOptions, ServerOptions {
  readonly watch?: boolean
}

const WATCH_EVERY_MS = 2000
/** Maximum number of errors to show of a rejected document; gw validate shows all. */
const MAX_REASONS = 5
/** Matches the location and label of a warning in the document. The status adds its own label. */
const PLACE_OF_WARNING = /^(\S+:\d+:\d+: )warning: /
const HEADINGS = [
  'WORKER',
  minor('PID', 1),
  'STATE',
  'CONFIG',
  'IN FLIGHT',
  minor('CONNECTIONS', 3),
  'RESTARTS',
  minor('MEMORY', 4),
  minor('LAG', 2),
  'UP',
]

/** Prints the state of the gateway, with `--watch` repeatedly. */
export async function status(options: StatusOptions): Promise<void> {
  const client = new AdminClient(options)
  return repeated(options, () => printStatus(client, options.output))
}

/** Runs a print function, with `--watch` repeatedly until a signal. */
export async function repeated(
  { watch = false, output }: Pick<StatusOptions, 'watch' | 'output'>,
  printOnce: () => Promise<void>,
): Promise<void> {
  await printOnce()
  if (!watch) return
  const { signal } = untilSignal()
  while (await pause(signal)) {
    if (isTable(output)) turnPage()
    await printOnce().catch(reportUnreachable)
  }
}

/** Resolves after a pause; false if the signal was received. */
function pause(signal: AbortSignal): Promise<boolean> {
  return sleep(WATCH_EVERY_MS, true, { signal }).catch(() => false)
}

/** Reports an unreachable gateway and continues, so that `--watch` shows its return. */
function reportUnreachable(error: unknown): void {
  if (!(error instanceof Failure) || error.exit !== EXIT.unreachable) throw error
  say(error.message)
}

async function printStatus(client: AdminClient, format: Format): Promise<void> {
  const { part } = await client.get('/v1/status')
  if (!isTable(format)) return printValue({ ...part.value, ...(await conditionsOf(client)) }, format)
  const log = await client.get('/v1/log')
  const lines = summary(part, log.part)
  print(...lines, ...conditionLines(await conditionsOf(client)).map(visibleText), '')
  printTable(HEADINGS, part.parts('workers').map(workerRow), format)
}

function summary(part: AnswerPart, log: AnswerPart): string[] {
  const reason = part.textOrNull('reason')
  const state = part.flag('ready') ? 'ready' : `not ready: ${reason ?? 'unknown reason'}`
  const digest = shortDigest(part.textOrNull('digest'))
  return [
    `Sluice ${part.text('version')}, up ${ageText(part.number('uptimeMs'))}, ${state}`,
    `configuration ${digest}, from ${part.textOrNull('origin') ?? '-'}${rolloutText(part)}`,
    ...part
      .parts('listeners')
      .map((listener) => `listener ${listener.text('url')} (${listener.text('engine')})`),
    ...refusal(part),
    ...controlSummary(part.partOrNull('control')),
    ...stateSummary(part),
    ...cacheServerSummary(part.partOrNull('cacheServer')),
    logSummary(log),
    ...part.texts('warnings').map((warning) => `warning: ${warning.replace(PLACE_OF_WARNING, '$1')}`),
  ].map(visibleText)
}

/** Returns when and by whom the active document was deployed, and why it is not that of the file. */
function rolloutText(part: AnswerPart): string {
  const last = part.partOrNull('lastRollout')
  const origin = part.textOrNull('origin')
  const isRejected = last !== null && ['invalid', 'rolled-back'].includes(last.text('result'))
  const isFileRejected = origin === 'last-good' || (isRejected && last.text('origin') === 'file')
  const file = isFileRejected
    ? '; the file on disk is rejected'
    : origin === 'api'
      ? '; not saved to the file'
      : ''
  if (last === null || isRejected) return file
  const note = last.text('note') === '' ? '' : ` (${last.text('note')})`
  return `, applied ${ageText(Date.now() - Date.parse(last.text('at')))} ago by ${last.text('actor')}${note}${file}`
}

/** Returns why the last document was rejected; empty if it is in use. */
function refusal(part: AnswerPart): string[] {
  const last = part.partOrNull('lastRollout')
  if (last === null || ['applied', 'unchanged'].includes(last.text('result'))) return []
  const mistakes = last.texts('mistakes')
  const reasons = last.parts('reasons').map(reasonText)
  const ago = ageText(Date.now() - Date.parse(last.text('at')))
  const what = `last document rejected ${ago} ago (from ${last.text('origin')}, by ${last.text('actor')}); the previous one is in use`
  return [what, ...[...mistakes, ...reasons].slice(0, MAX_REASONS).map((line) => `  ${line}`)]
}

/** Returns the connection to the controller; empty without a controller. */
function controlSummary(control: AnswerPart | null): string[] {
  if (control === null) return []
  const ago = ageText(Date.now() - Date.parse(control.text('since')))
  const problem = control.textOrNull('problem')
  const state = control.flag('connected')
    ? `connected for ${ago}`
    : `not connected for ${ago} (${problem ?? '-'})`
  const deploy = control.number('deploy') === 0 ? 'no deploy yet' : `deploy ${control.number('deploy')}`
  const drift = control.textOrNull('drift')
  return [
    `controller ${control.text('url')}: ${state}, group ${control.text('group')}, ${deploy}`,
    ...(drift === null ? [] : [`drift: ${drift}`]),
  ]
}

/** Returns the workers that do not use the `state` server; empty if all do or no server is configured. */
function stateSummary(part: AnswerPart): string[] {
  const workers = part.parts('workers')
  const problems = workers.map((worker) => worker.textOrNull('stateProblem')).filter((text) => text !== null)
  if (problems.length === 0) return []
  return [
    `state: not used by ${problems.length} of ${countText(workers.length, 'worker')}: the server ${problems[0]}`,
  ]
}

/** Returns the state of the cache server of `cache.serve`; empty without a cache server. */
function cacheServerSummary(server: AnswerPart | null): string[] {
  if (server === null) return []
  const host = server.text('host')
  const scheme = server.flag('tls') ? 'https' : 'http'
  const url = `${scheme}://${host.includes(':') ? `[${host}]` : host}:${server.number('port')}`
  const memory = formatSize(server.number('rssBytes'))
  return [`cache server ${url}: ${server.text('state')}, ${memory}, restarts: ${server.number('restarts')}`]
}

function reasonText(reason: AnswerPart): string {
  const worker = reason.number('worker')
  return worker === 0 ? reason.text('reason') : `worker ${worker}: ${reason.text('reason')}`
}

/** Returns the record counters of all workers, including ended ones, and the backlog. */
function logSummary(log: AnswerPart): string {
  const waiting = log.number('onDisk') + log.number('inMemory')
  const lagMs = log.numberOrNull('lagMs') ?? 0
  const lag = lagMs === 0 ? '' : ` (the oldest for ${ageText(lagMs)})`
  return `traffic log: ${log.number('received')} received, ${log.number('indexed')} delivered, ${waiting} waiting${lag}, ${log.number('dead')} refused, ${log.number('dropped')} lost`
}

function workerRow(worker: AnswerPart): (string | number)[] {
  return [
    worker.number('id'),
    worker.numberOrNull('pid') ?? '-',
    worker.text('state'),
    shortDigest(worker.textOrNull('digest')),
    worker.number('inFlight'),
    worker.number('connections'),
    worker.number('restarts'),
    formatSize(worker.number('rssBytes')),
    `${worker.number('loopLagMs').toFixed(0)} ms`,
    ageText(worker.number('uptimeMs')),
  ]
}
