import { shuffled } from '../lib/statistics.js'
import type { Point } from '../model/summary.js'
import { CaseRun } from './case-run.js'
import type { Repetition } from './repetition.js'
import type { Progress, RunContext } from './run-context.js'
import type { Setup } from './setup.js'

/**
 * Measures two scenarios in pairs and returns their points, the base first. Both run side by side and are measured
 * in turn, in random order. Each pair has new processes: two processes of the same program differ by some percent
 * for as long as they live, which pairs of the same processes would not show.
 * @param open functions that start the base and the other scenario
 */
export async function measurePairs(
  context: RunContext,
  progress: Progress,
  connections: number,
  open: readonly (() => Promise<Setup>)[],
): Promise<Point[]> {
  const { options, random } = context
  // Repetitions by setup and system.
  const lists: Repetition[][][] = open.map(() => [])
  let points: Point[] = []
  for (let i = 1; i <= options.repetitions && !options.signal.aborted; i++) {
    const setups: Setup[] = []
    try {
      for (const start of open) setups.push(await start())
      const runs = setups.map((setup) => new CaseRun(context, setup, progress))
      for (const run of runs) await run.warmUp(connections)
      const rounds = new Map<CaseRun, Repetition[]>()
      for (const run of shuffled(runs, random))
        if (!options.signal.aborted) rounds.set(run, await run.round(connections, ` in pair ${i}`))
      if (rounds.size < runs.length) break
      points = runs.flatMap((run, at) => {
        lists[at] = rounds.get(run)!.map((one, n) => [...(lists[at]![n] ?? []), one])
        return run.roundPoints(connections, lists[at])
      })
    } finally {
      for (const setup of setups) await setup.close()
    }
  }
  const base = points[0]?.scenario
  return points.map((point) =>
    base === undefined || point.scenario === base ? point : { ...point, pairedWith: base },
  )
}
