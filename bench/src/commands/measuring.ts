import { accessSync, constants, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  ageText,
  countText,
  ENDING_SIGNALS,
  EXIT,
  Failure,
  outliveReader,
  Progress,
  print,
  printTable,
  printValue,
  reasonOf,
  say,
  usageError,
} from '@sluice/cli/kit'
import { makeFolders } from '@sluice/core'
import type { RunObserver, RunOptions } from '../model/run.js'
import type { Summary } from '../model/summary.js'
import { reasonsOf, type Trial, verdictOf } from '../model/trial.js'
import { isCostKnown } from '../report/cost.js'
import { hasFigures, isValid, kindText } from '../report/figures.js'
import { JtlRows } from '../report/jtl.js'
import { predictionsOf, predictionTable } from '../report/predictions.js'
import { writeResults } from '../report/results.js'
import { comparisonTable, highestRates, pointTable, trialTable } from '../report/tables.js'
import { runSuite } from '../run/run-suite.js'
import { loadSeconds } from './load-seconds.js'
import type { MeasuringFlags } from './run-options.js'
import { durationSetting, mendable } from './settings.js'

/** Default folder for runs. */
export const RESULTS_DIR = 'results'
export const SUMMARY_FILE = 'summary.json'
const JTL_FILE = 'requests.jtl'
/** Mode for world-readable directories. */
const SHARED = 0o777

/** Options for the results of a run. */
export interface Outcome {
  /** True if reports are written. */
  readonly isKept: boolean
  /** Returns lines below the table, such as the cost of a policy. */
  remarks?(summary: Summary): readonly string[]
}

/** Runs a suite with progress, prints its points and writes its reports. */
export async function measureAndReport(
  options: Omit<RunOptions, 'signal'>,
  flags: MeasuringFlags,
  { isKept, remarks = () => [] }: Outcome,
): Promise<void> {
  const slo = flags.slo === undefined ? null : durationSetting('--slo', flags.slo)
  if (flags.jtl === true && (!isKept || options.suite.trials !== undefined))
    throw usageError('--jtl requires points and a folder for the reports; add --out')
  const jtl = flags.jtl === true ? new JtlRows() : null
  if (isKept) checkResultsDir(flags.out ?? RESULTS_DIR)
  outliveReader()
  say(`${options.suite.name}: about ${ageText(loadSeconds(options) * 1000)} of load`)
  const { summary, isStopped } = await run(options, jtl)
  const { points, trials } = summary
  if (points.length + trials.length === 0) throw new Failure('nothing was measured')
  // Saved before printing, because a closed pipe must not cost hours of measuring.
  const loss = isKept ? keep(summary, flags.out ?? join(RESULTS_DIR, summary.id), jtl) : null
  if (flags.output === 'json') await printValue(summary, flags.output)
  else {
    const tables = [
      points.length > 0 ? pointTable(points) : null,
      comparisonTable(points),
      predictionTable(predictionsOf(points)),
      slo === null ? null : highestRates(points, slo * 1000),
      trialTable(trials),
    ]
    for (const table of tables.filter((one) => one !== null)) {
      print(table.name)
      printTable(table.headings, table.rows)
      print(...(table.legend ?? []))
    }
    print(...remarks(summary))
  }
  if (loss !== null) throw loss
  if (isStopped) throw new Failure('stopped early: the results cover what was measured so far')
  const text = shortfall(summary)
  if (text === null) return
  if (flags.failOnInvalid === true) throw new Failure(text, EXIT.assertion)
  say(text)
}

/** The first signal stops the run gracefully, the second at once. */
async function run(
  options: Omit<RunOptions, 'signal'>,
  jtl: JtlRows | null,
): Promise<{ readonly summary: Summary; readonly isStopped: boolean }> {
  const progress = new Progress()
  const stop = new AbortController()
  const act = (): void => {
    if (stop.signal.aborted) {
      progress.end()
      process.exit(EXIT.failed)
    }
    stop.abort()
    progress.note('stopping after this repetition; once more stops at once')
  }
  for (const name of ENDING_SIGNALS) process.on(name, act)
  try {
    const summary = await runSuite({ ...options, signal: stop.signal }, observer(progress, jtl))
    return { summary, isStopped: stop.signal.aborted }
  } catch (error) {
    throw mendable(error)
  } finally {
    for (const name of ENDING_SIGNALS) process.off(name, act)
    progress.end()
  }
}

function observer(progress: Progress, jtl: JtlRows | null): RunObserver {
  return {
    ...(jtl === null ? {} : { onSamples: (load, samples) => jtl.add(load, samples) }),
    onStep: (done, total, what, remainingSeconds) => progress.step(done, total, what, remainingSeconds),
    onPoint: (point) => {
      if (hasFigures(point)) return
      const label = `${point.title}, ${point.system}, ${countText(point.connections, 'connection')}, ${kindText(point)}`
      progress.note(
        `invalid${isCostKnown(point) ? ', except CPU time' : ''}: ${label}: ${point.invalid.join('; ')}`,
      )
    },
    onWarning: (text) => progress.note(`warning: ${text}`),
    onTrial: (trial) => {
      const verdict = verdictOf(trial)
      if (verdict !== 'passed') progress.note(`${verdict}: ${trial.title}: ${reasonsOf(trial).join('; ')}`)
    },
  }
}

/** Creates the results folder before measuring starts. @throws Failure */
function checkResultsDir(dir: string): void {
  if (existsSync(join(dir, SUMMARY_FILE)))
    throw new Failure(`${dir} contains the results of another run; choose another folder with --out`)
  try {
    makeFolders(dir, SHARED)
    accessSync(dir, constants.W_OK | constants.X_OK)
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error)
    throw new Failure(`${dir} cannot be written to (${reason}); name another folder with --out`)
  }
}

function keep(summary: Summary, dir: string, jtl: JtlRows | null): Failure | null {
  try {
    const files = writeResults(summary, dir)
    if (jtl !== null) {
      files.push(join(dir, JTL_FILE))
      writeFileSync(files.at(-1)!, jtl.text())
    }
    say(`wrote ${files.join(', ')}`)
    return null
  } catch (error) {
    return new Failure(`the results could not be written to ${dir}: ${reasonOf(error)}`)
  }
}

/** Returns what has no figures, has warnings or has not passed, or null. */
function shortfall({ points, trials }: Summary): string | null {
  const texts: string[] = []
  const invalid = points.filter((point) => !hasFigures(point)).length
  const warned = points.filter((point) => hasFigures(point) && !isValid(point)).length
  const all = countText(points.length, 'point')
  if (invalid > 0) texts.push(`${invalid} of ${all} ${invalid === 1 ? 'is' : 'are'} invalid`)
  if (warned > 0) texts.push(`${warned} of ${all} ${warned === 1 ? 'has' : 'have'} warnings`)
  for (const verdict of ['failed', 'invalid'] as const) {
    const count = trials.filter((trial: Trial) => verdictOf(trial) === verdict).length
    if (count > 0) texts.push(`${verdict}: ${count} of ${countText(trials.length, 'trial')}`)
  }
  return texts.length === 0 ? null : texts.join('; ')
}
