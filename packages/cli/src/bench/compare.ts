import type { Limit } from '@sluice/bench'
import { EXIT } from '../failure.js'
import { print, printValue } from '../output/output.js'
import type { OutputOptions } from '../program/building.js'
import { savedSummary } from './saved-summary.js'
import { toolFailure } from './tool-failure.js'
import type { BenchTools } from './tools.js'

interface CompareFlags extends OutputOptions {
  readonly failIf?: string
}

/** `gw bench compare`: exits with 7 when a limit is exceeded, with 1 when there was nothing to compare. */
export function benchCompare(
  tools: BenchTools,
): (flags: CompareFlags, before: string, after: string) => Promise<number> {
  return async ({ failIf, output }, before, after) => {
    const limits = failIf === undefined ? [] : limitsOf(tools, failIf)
    const [old, fresh] = [await savedSummary(tools, before), await savedSummary(tools, after)]
    const comparison = compared(() => tools.compareSummaries(old.summary, fresh.summary, limits))
    const { lines, isFailed, points, onlyBefore, onlyAfter, noEvidence, warnings } = comparison
    if (output === 'table') print(...lines)
    else {
      const figures = points.map(({ name, changes, verdicts }) => ({ name, changes, verdicts }))
      const rest = { onlyBefore, onlyAfter, noEvidence, warnings }
      await printValue({ failed: isFailed, points: figures, ...rest, lines }, output)
    }
    if (isFailed) return EXIT.assertion
    return points.length === 0 ? EXIT.failed : EXIT.ok
  }
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
