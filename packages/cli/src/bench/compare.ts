import type { Limit } from '@sluice/bench'
import { EXIT, Failure } from '../failure.js'
import { print, printValue } from '../output/output.js'
import type { OutputOptions } from '../program/building.js'
import { knownBaseline } from './baseline.js'
import { savedSummary } from './saved-summary.js'
import { toolFailure } from './tool-failure.js'
import type { BenchTools } from './tools.js'

interface CompareFlags extends OutputOptions {
  /** In place of the first run. */
  readonly baseline?: string
  readonly failIf?: string
  /** The later run is meant to be a part of the earlier one. */
  readonly partial?: boolean
}

/** `gw bench compare`: exits with 7 when a limit is exceeded, with 1 when there was nothing to compare. */
export function benchCompare(tools: BenchTools): (flags: CompareFlags, ...runs: string[]) => Promise<number> {
  return async ({ failIf, output, baseline, partial: isPartial = false }, ...runs) => {
    const [before, after] = sidesOf(runs, baseline)
    const limits = failIf === undefined ? [] : limitsOf(tools, failIf)
    const [old, fresh] = [await savedSummary(tools, before), await savedSummary(tools, after)]
    const comparison = compared(() =>
      tools.compareSummaries(old.summary, fresh.summary, limits, { isPartial }),
    )
    const { lines, isFailed, points, trials, onlyBefore, onlyAfter, noEvidence, warnings } = comparison
    if (output === 'table') print(...lines)
    else {
      const figures = points.map(({ name, changes, verdicts }) => ({ name, changes, verdicts }))
      const rest = { onlyBefore, onlyAfter, noEvidence, warnings }
      await printValue({ failed: isFailed, points: figures, trials, ...rest, lines }, output)
    }
    if (isFailed) return EXIT.assertion
    return points.length + trials.length === 0 ? EXIT.failed : EXIT.ok
  }
}

/** What is compared with what. @throws Failure when it is not two. */
function sidesOf(runs: readonly string[], baseline: string | undefined): readonly [string, string] {
  const [first, second] = baseline === undefined ? runs : [knownBaseline(baseline), ...runs]
  if (first !== undefined && second !== undefined && runs.length === (baseline === undefined ? 2 : 1))
    return [first, second]
  throw new Failure(
    EXIT.usage,
    'name two runs, or one and --baseline, such as --baseline main results/branch',
  )
}

function limitsOf(tools: BenchTools, text: string): readonly Limit[] {
  try {
    return tools.parseLimits(text)
  } catch (error) {
    throw toolFailure(error, EXIT.usage)
  }
}

/** Runs of different suites, for example, cannot be compared. */
function compared<T>(compare: () => T): T {
  try {
    return compare()
  } catch (error) {
    throw toolFailure(error)
  }
}
