import { type Estimate, fitScalability, LEAST_ROUNDS } from '../lib/scalability.js'
import { OURS } from '../model/run.js'
import { TIERS } from '../model/scenario.js'
import type { Point } from '../model/summary.js'
import { areCostsAlike, busyText, type CostPoint, hasCost } from './cost.js'
import { countText, requestText, shareText, significant } from './figures.js'
import { familyOf, groupedBy } from './relations.js'
import type { TextTable } from './tables.js'

/** Scaling of one request, from measured tiers to larger ones. */
export interface ScalingPrediction {
  readonly name: string
  /** Measured points, the smallest tier first. */
  readonly measured: readonly CostPoint[]
  readonly fit: NonNullable<ReturnType<typeof fitScalability>>
  /** Numbers of workers that were not measured. */
  readonly workers: readonly number[]
}

/** Predicts larger tiers from measured ones, at equal numbers of connections and similar core use. */
export function predictionsOf(points: readonly Point[]): ScalingPrediction[] {
  const costs = points
    .filter(hasCost)
    .filter(({ system, kind, tier }) => system === OURS && kind === 'saturation' && tier !== null)
  const sets = groupedBy(
    costs,
    (point) => `${point.suite} ${familyOf(point)} ${point.log} ${point.connections}`,
  )
  return sets.flatMap((set) => {
    const measured = set.toSorted((a, b) => a.workers - b.workers)
    const first = measured[0]!
    if (first.workers !== 1 || !measured.every((point) => areCostsAlike(first, point))) return []
    const rounds = first.cpuMicrosPerRequest.values.flatMap((_, i) => {
      const values = measured.map((point) => [point.workers, point.cpuMicrosPerRequest.values[i]] as const)
      return values.every(([, value]) => value !== undefined) ? [new Map(values as [number, number][])] : []
    })
    const fit = fitScalability(rounds, first.scenario)
    const most = measured.at(-1)!.workers
    const workers = TIERS.map(({ cores }) => cores).filter((cores) => cores > most)
    const name = `${requestText(first)}${first.log === 'none' ? '' : ', log'}, ${countText(first.connections)} conn.`
    return fit === null || workers.length === 0 ? [] : [{ name, measured, fit, workers }]
  })
}

/** Returns the table of predictions, apart from all measurements, or null without any. */
export function predictionTable(predictions: readonly ScalingPrediction[]): TextTable | null {
  if (predictions.length === 0) return null
  const rows = predictions.flatMap(({ name, measured, fit, workers }) =>
    workers.map((count) => {
      const { low, middle, high } = fit.costAt(count)
      const rate = (micros: number): number => (count * 1e6) / micros
      return [
        ...[name, `W${count}`, rangeText({ low: rate(high), middle: rate(middle), high: rate(low) })],
        ...[rangeText({ low, middle, high }), shareText(fit.costAt(1).middle / middle), rangeText(fit.sigma)],
        `${rangeText(fit.kappa)}${fit.isKappaAssumed ? ', assumed' : ''}`,
        measured.map(measuredText).join('; '),
      ]
    }),
  )
  const headings = ['request', 'tier', 'predicted requests/s', 'CPU µs', 'of linear', 'σ', 'κ', 'measured']
  return { name: 'Predictions', headings, rows, remark: REMARK }
}

const REMARK = `Not measured. The Universal Scalability Law (contention σ, coherency κ) is fitted to the CPU time per request of the measured tiers, for workers that use their cores fully. Brackets contain the 95 % interval of a bootstrap over at least ${LEAST_ROUNDS} repetitions. κ "assumed": one tier beside W1 does not tell σ from κ, so κ is drawn evenly from 0 to the value at which σ is 0. Contention that first appears with more workers, memory bandwidth and network cards are not predicted.`

function rangeText({ low, middle, high }: Estimate): string {
  return `${significant(middle)} (${significant(low)}–${significant(high)})`
}

/** Formats a measured point, such as `W2 21.4 µs, cores shared, 61 % in the kernel`. */
function measuredText(point: CostPoint): string {
  const kernel = point.kernelShare == null ? '' : `, ${shareText(point.kernelShare)} in the kernel`
  return `${point.tier} ${significant(point.cpuMicrosPerRequest.mean)} µs${busyText(point)}${kernel}`
}
