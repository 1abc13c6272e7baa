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

/** `gw bench compare`: exits with 7 when a limit is exceeded. */
export function benchCompare(
  tools: BenchTools,
): (flags: CompareFlags, before: string, after: string) => Promise<number> {
  return async ({ failIf, output }, before, after) => {
    const limits = failIf === undefined ? [] : limitsOf(tools, failIf)
    const [old, fresh] = [await savedSummary(tools, before), await savedSummary(tools, after)]
    const { lines, isFailed } = compared(() => tools.compareSummaries(old.summary, fresh.summary, limits))
    if (output === 'table') print(...lines)
    else await printValue({ failed: isFailed, lines }, output)
    return isFailed ? EXIT.assertion : EXIT.ok
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
