import { join } from 'node:path'
import {
  countVerdicts,
  hasCost,
  measurablePart,
  type Point,
  type RunObserver,
  reasonsOf,
  type Summary,
  type Trial,
  verdictOf,
} from '@sluice/bench'
import { EXIT, type ExitCode, Failure, messageOf } from '../failure.js'
import { type Format, outliveReader, print, printTable, printValue, say } from '../output/output.js'
import { Progress } from '../output/progress.js'
import { ageText, countText } from '../output/text.js'
import { runSize, trialsText } from './estimate.js'
import { listenForInterruption } from './interruption.js'
import { checkResultsDir, RESULTS_DIR } from './results-dir.js'
import type { RunOrder } from './run-order.js'
import { addStepSummary } from './step-summary.js'
import { toolFailure } from './tool-failure.js'
import type { BenchTools } from './tools.js'
import { writtenFiles } from './written-files.js'

/** What becomes of the results of a run. */
export interface Outcome {
  /** The folder of the reports; null: one of its own below `results`. */
  readonly dir: string | null
  /** Whether reports are written at all. */
  readonly isKept: boolean
  readonly output: Format
  readonly failsOnInvalid: boolean
  /** Lines below the table, such as the cost of a policy. */
  remarks(summary: Summary): readonly string[]
}

/** Runs a suite, shows how far it is, prints its points, and writes its reports. Answers the exit code. */
export async function measure(tools: BenchTools, order: RunOrder, outcome: Outcome): Promise<number> {
  if (outcome.isKept) checkResultsDir(outcome.dir ?? RESULTS_DIR)
  outliveReader()
  announce(order)
  const { summary, isStopped } = await run(tools, order)
  if (summary.points.length === 0 && (summary.trials ?? []).length === 0)
    throw new Failure(
      EXIT.failed,
      isStopped ? 'stopped before anything was measured' : 'nothing was measured',
    )
  const loss = outcome.isKept
    ? await keep(tools, summary, outcome.dir ?? join(RESULTS_DIR, summary.id))
    : null
  await show(tools, summary, outcome)
  if (loss !== null) throw loss
  if (isStopped)
    throw new Failure(EXIT.failed, 'stopped: the results are those of what was measured until then')
  return exitOf(summary, outcome)
}

/** Says how long it takes, without what the run leaves out; who can measure nothing hears of that instead. */
function announce({
  suite: chosen,
  target,
  warmUpSeconds,
  seconds,
  repetitions,
  coolDownSeconds = 0,
  rateShares,
  sloMicros,
  peers,
  engine,
  saturationEngine = engine,
}: RunOrder): void {
  const times = {
    ...{ warmUpSeconds, seconds, repetitions, coolDownSeconds, rates: rateShares.length },
    ...{ hasKnee: sloMicros !== null, peers: peers.length, engines: saturationEngine === engine ? 1 : 2 },
  }
  const suite = measurablePart(chosen, target)
  const size = runSize(suite, times)
  if (size.scenarios === 0) return
  if (suite.trials !== undefined) say(trialsText(suite, times))
  else
    say(
      `${suite.name}: ${countText(size.scenarios, 'scenario')}, ${countText(size.points, 'number')} of connections in all, about ${ageText(size.seconds * 1000)} of load`,
    )
}

async function run(
  tools: BenchTools,
  order: RunOrder,
): Promise<{ readonly summary: Summary; readonly isStopped: boolean }> {
  const progress = new Progress()
  const interruption = listenForInterruption(
    () => progress.note('stopping after this repetition; once more stops at once'),
    () => {
      progress.end()
      process.exit(EXIT.failed)
    },
  )
  try {
    const summary = await tools.runSuite({ ...order, signal: interruption.signal }, observer(progress))
    return { summary, isStopped: interruption.signal.aborted }
  } catch (error) {
    throw toolFailure(error)
  } finally {
    interruption.end()
    progress.end()
  }
}

function observer(progress: Progress): RunObserver {
  return {
    onStep: (done, total, what, remainingSeconds) => progress.step(done, total, what, remainingSeconds),
    onPoint: (point) => {
      const but = hasCost(point) ? ' but for CPU time' : ''
      if (point.invalid.length > 0)
        progress.note(`no result${but}: ${pointName(point)}: ${point.invalid.join(', ')}`)
    },
    onWarning: (text) => progress.note(`warning: ${text}`),
    onTrial: (trial) => {
      const verdict = verdictOf(trial)
      if (verdict === 'passed') return
      const what = verdict === 'failed' ? 'not passed' : verdict
      progress.note(`${what}: ${trial.title}: ${reasonsOf(trial).join('; ')}`)
    },
  }
}

function pointName({ title, contestant, connections, targetPerSecond }: Point): string {
  const rate = targetPerSecond === null ? '' : ` at ${Math.round(targetPerSecond)} a second`
  return `${title}, ${contestant}, ${countText(connections, 'connection')}${rate}`
}

async function show(tools: BenchTools, summary: Summary, { output, remarks }: Outcome): Promise<void> {
  if (output !== 'table') return printValue(summary, output)
  const [headings = [], ...rows] =
    summary.trials === undefined ? tools.pointTable(summary.points) : tools.trialTable(summary.trials)
  printTable(headings, rows)
  for (const table of tools.rivalTables(summary.points)) {
    print('', table.name)
    printTable(
      [...table.headings],
      table.rows.map((row) => [...row]),
    )
    if (table.remark !== null) print(table.remark)
  }
  const lines = remarks(summary)
  if (lines.length > 0) print('', ...lines)
}

/** Writes the reports before anything is printed, because a reader that goes away must not cost hours of measuring. */
async function keep(tools: BenchTools, summary: Summary, dir: string): Promise<Failure | null> {
  try {
    const paths = await tools.writeResults(summary, dir)
    say(`wrote ${writtenFiles(paths)}`)
    addStepSummary(dir)
    return null
  } catch (error) {
    return new Failure(EXIT.failed, `the results could not be written to ${dir}: ${messageOf(error)}`)
  }
}

function exitOf(summary: Summary, { failsOnInvalid }: Outcome): ExitCode {
  const invalid = summary.points.filter((point) => point.invalid.length > 0)
  const trials = trialsLeft(summary.trials ?? [])
  if (invalid.length === 0 && trials === null) return EXIT.ok
  const text = trials ?? invalidText(invalid, summary)
  if (failsOnInvalid) throw new Failure(EXIT.assertion, text)
  say(text)
  return EXIT.ok
}

/** How many trials were not passed, and how many are no result; null: all were passed. */
function trialsLeft(trials: readonly Trial[]): string | null {
  const counts = [
    { count: countVerdicts(trials, 'failed'), what: 'not passed' },
    { count: countVerdicts(trials, 'no result'), what: 'no result' },
  ].filter(({ count }) => count > 0)
  if (counts.length === 0) return null
  const of = ` of ${countText(trials.length, 'trial')}`
  const parts = counts.map(
    ({ count, what }, i) => `${count}${i === 0 ? of : ''} ${count === 1 ? 'is' : 'are'} ${what}`,
  )
  return parts.join(', ')
}

function invalidText(invalid: readonly Point[], { points }: Summary): string {
  const costs = invalid.filter(hasCost).length
  const but = costs === 0 ? '' : `, but CPU time of ${costs} of them is`
  const are = invalid.length === 1 ? 'is' : 'are'
  return `${invalid.length} of ${countText(points.length, 'point')} ${are} no result${but}`
}
