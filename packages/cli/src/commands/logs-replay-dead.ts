import { shippingOf } from '@sluice/gateway/log'
import type { LogOutputOptions } from '@sluice/logger'
import { deadLetters, type LetterCounts, type ReplayOutcome, replayDeadLetters } from '@sluice/logger/replay'
import type { OutputOptions } from '../input/options.js'
import { untilSignal } from '../input/until-signal.js'
import { EXIT, type ExitCode, Failure, messageOf, usageError } from '../output/failure.js'
import { print, printTable, printValue, say } from '../output/output.js'
import { Progress } from '../output/progress.js'
import { countText } from '../output/text.js'
import { type ElasticsearchFlags, namedAccess } from './elasticsearch-access.js'
import { outletsOf, requireDocument } from './log-outlets.js'

interface ReplayFlags extends ElasticsearchFlags, OutputOptions {
  /** Spool folder of the target. */
  readonly dir?: string
  readonly dryRun?: boolean
}

/** Dead letters of a target, and where to deliver them. */
interface DeadLetterSpool {
  readonly id: string
  readonly dir: string
  readonly output: LogOutputOptions
}

/** Retries the delivery of records that log targets refused. */
export async function replayDead(options: ReplayFlags): Promise<number | void> {
  requireDocument(options)
  const spools = await spoolsOf(options)
  return options.dryRun === true ? printCounts(spools, options) : replayAll(spools, options)
}

/** Returns the spool of each remote target of the document, or that of the given cluster. */
async function spoolsOf(options: ReplayFlags): Promise<readonly DeadLetterSpool[]> {
  const { config, dir, elasticsearch, target } = options
  if (elasticsearch !== undefined) {
    if (dir === undefined) throw usageError('specify the spool folder with --dir')
    const access = namedAccess(options, elasticsearch)
    const fixed = { retentionDays: null, replicas: 1, manage: false } as const
    return [{ id: 'elasticsearch', dir, output: { kind: 'elasticsearch', ...access, ...fixed } }]
  }
  if (config === undefined)
    throw usageError(
      'specify the document with -c, or the spool with --dir and the cluster with --elasticsearch',
    )
  const spools: DeadLetterSpool[] = []
  for (const { id, outlet } of await outletsOf(config, target)) {
    const shipping = shippingOf(outlet)
    if (shipping !== null) spools.push({ id, dir: dir ?? shipping.spool.dir, output: shipping.output })
  }
  if (spools.length === 0) throw new Failure(`${config} has no log target that can refuse records`)
  if (dir !== undefined && spools.length > 1) {
    const names = spools.map(({ id }) => id).join(', ')
    throw usageError(`${config} has several log targets: ${names}; choose one with --target`)
  }
  return spools
}

async function printCounts(spools: readonly DeadLetterSpool[], { output }: ReplayFlags): Promise<void> {
  const found: (LetterCounts & { readonly target: string; readonly dir: string })[] = []
  for (const { id, dir } of spools) found.push({ target: id, dir, ...(await countsIn(dir)) })
  if (output !== 'table') {
    await printValue({ dryRun: true, targets: found }, output)
    return
  }
  const rows = found.flatMap(({ target, damaged, reasons }) => [
    ...Object.entries(reasons).map(([reason, count]) => [target, reason, String(count)]),
    ...(damaged > 0 ? [[target, 'damaged', String(damaged)]] : []),
  ])
  if (rows.length === 0) say('there are no dead letters')
  else printTable(['target', 'refused with', 'records'], rows)
}

async function countsIn(dir: string): Promise<LetterCounts> {
  try {
    return await deadLetters(dir)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      return { files: 0, letters: 0, damaged: 0, reasons: {} }
    throw new Failure(`the dead letters in ${dir} cannot be read: ${messageOf(error)}`)
  }
}

async function replayAll(spools: readonly DeadLetterSpool[], { output }: ReplayFlags): Promise<number> {
  const { signal } = untilSignal()
  const outcomes: (ReplayOutcome & { readonly target: string; readonly left: number })[] = []
  for (const spool of spools) {
    const { letters } = await countsIn(spool.dir)
    const outcome = letters === 0 ? NOTHING : await replayOne(spool, letters, signal)
    const left = Math.max(0, letters - outcome.delivered - outcome.refused)
    outcomes.push({ target: spool.id, ...outcome, left })
  }
  if (output === 'table') for (const outcome of outcomes) report(outcome)
  else await printValue({ dryRun: false, targets: outcomes }, output)
  return exitOf(outcomes, signal.aborted)
}

const NOTHING: ReplayOutcome = { delivered: 0, refused: 0, damaged: 0, failure: null }

async function replayOne(
  { id, dir, output }: DeadLetterSpool,
  total: number,
  signal: AbortSignal,
): Promise<ReplayOutcome> {
  const progress = new Progress()
  try {
    return await replayDeadLetters({
      ...{ dir, output, signal },
      onProgress: ({ delivered, refused }) => progress.step(delivered + refused - 1, total, id, 0),
      onProblem: (problem) => progress.note(problem),
    })
  } catch (error) {
    throw new Failure(`the dead letters in ${dir} cannot be delivered: ${messageOf(error)}`)
  } finally {
    progress.end()
  }
}

function report({
  target,
  delivered,
  refused,
  damaged,
  left,
  failure,
}: ReplayOutcome & { target: string; left: number }): void {
  const parts = [`${delivered} delivered`, `${refused} refused again`]
  if (left > 0) parts.push(`${left} remaining`)
  if (damaged > 0) parts.push(`${countText(damaged, 'damaged line')} kept`)
  print(`${target}: ${parts.join(', ')}`)
  if (failure !== null) say(`${target}: ${failure}`)
}

function exitOf(
  outcomes: readonly (ReplayOutcome & { readonly left: number })[],
  isAborted: boolean,
): ExitCode {
  if (outcomes.some(({ failure }) => failure !== null)) return EXIT.unreachable
  const isWhole = outcomes.every(({ refused, damaged, left }) => refused + damaged + left === 0)
  return isWhole && !isAborted ? EXIT.ok : EXIT.differences
}
