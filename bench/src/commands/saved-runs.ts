import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { EXIT, Failure, print, printValue, say, unreadable, usageError } from '@sluice/cli/kit'
import { cacheCapacity, cacheCapacityLines } from '../capacity/cache-capacity.js'
import { capacityFor, capacityLines } from '../capacity/capacity.js'
import { parseLimits } from '../compare/changes.js'
import { compareSummaries, comparisonLines } from '../compare/comparison.js'
import type { Summary } from '../model/summary.js'
import { readSummary, writeResults } from '../report/results.js'
import { RESULTS_DIR, SUMMARY_FILE } from './measuring.js'
import { knownPair } from './policy.js'
import { mendable, sizeSetting } from './settings.js'

interface OutputFlags {
  readonly output: 'table' | 'json'
}

interface CompareFlags extends OutputFlags {
  readonly failIf?: string
  readonly partial?: boolean
}

interface CapacityFlags extends OutputFlags {
  readonly rps: number
  readonly body?: string
  readonly cache?: boolean
  readonly policies?: string
  readonly connections?: number
  readonly from?: readonly string[]
}

/** `gw bench compare`: exits with 7 if a limit is exceeded, and with 1 if there is nothing to compare. */
export async function benchCompare(
  { failIf, output, partial = false }: CompareFlags,
  before: string,
  after: string,
): Promise<number> {
  const limits = failIf === undefined ? [] : known(() => parseLimits(failIf), EXIT.usage)
  const [old, fresh] = [savedSummary(before), savedSummary(after)]
  const comparison = known(() => compareSummaries(old, fresh, limits, partial))
  const { points, isFailed } = comparison
  if (output === 'table') print(...comparisonLines(comparison))
  else {
    const figures = points.map(({ name, changes, verdicts }) => ({ name, changes, verdicts }))
    await printValue({ ...comparison, points: figures }, output)
  }
  if (isFailed) return EXIT.assertion
  return points.length === 0 ? EXIT.failed : EXIT.ok
}

/** `gw bench report`: writes the reports of an old run with the current version. */
export async function benchReport(_flags: object, path: string): Promise<void> {
  const file = summaryFile(path)
  print(...known(() => writeResults(savedSummary(path), dirname(file))))
}

/** `gw bench capacity`: exits with 1 if the runs lack required points. */
export async function benchCapacity(flags: CapacityFlags): Promise<number> {
  const { rps, cache = false, policies = '', connections = 0, from = [RESULTS_DIR], output } = flags
  const body = flags.body ?? (cache ? '1kb' : '0b')
  const query = {
    perSecond: rps,
    bodyBytes: sizeSetting('--body', body),
    policies: policies.split(',').filter((name) => name !== ''),
    connections,
  }
  if (cache && query.policies.length > 0) throw usageError('--policies: a cache server has none')
  for (const policy of query.policies) knownPair(policy)
  const files = from.flatMap(runsIn)
  if (files.length === 0)
    throw new Failure(
      `no run is below ${from.join(' or ')}; measure with gw bench run apinizer --tier W1, or name a run with --from`,
    )
  say(`from ${files.map((file) => dirname(file)).join(', ')}`)
  if (cache) {
    const guide = known(() => cacheCapacity(files.map(savedSummary), query))
    if (output === 'table') print(...cacheCapacityLines(query, guide))
    else await printValue(guide, output)
    return guide.operations.length === 0 ? EXIT.failed : EXIT.ok
  }
  const answer = known(() => capacityFor(files.map(savedSummary), query))
  if (output === 'table') print(...capacityLines(query, answer))
  else await printValue(answer, output)
  return answer.size === null ? EXIT.failed : EXIT.ok
}

/** Returns the run of a path: its folder or summary.json. @throws Failure */
function savedSummary(path: string): Summary {
  return known(() => readSummary(summaryFile(path)))
}

function summaryFile(path: string): string {
  try {
    return statSync(path).isDirectory() ? join(path, SUMMARY_FILE) : path
  } catch (error) {
    throw unreadable('the run', path, error)
  }
}

function runsIn(path: string): string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    return path === RESULTS_DIR ? [] : [path]
  if (existsSync(join(path, SUMMARY_FILE))) return [join(path, SUMMARY_FILE)]
  return readdirSync(path)
    .map((name) => join(path, name, SUMMARY_FILE))
    .filter((file) => existsSync(file))
    .sort()
}

function known<T>(answer: () => T, exit: typeof EXIT.failed | typeof EXIT.usage = EXIT.failed): T {
  try {
    return answer()
  } catch (error) {
    throw mendable(error, exit)
  }
}
