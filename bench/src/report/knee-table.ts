import type { Point } from '../model/summary.js'
import { countText, isValid, microsText, percentileOf, shareText, sloText } from './figures.js'

const HEADINGS = [
  'scenario',
  'contestant',
  'connections',
  'limit',
  'requests/s',
  'of saturation',
  'P99 there',
]

/** The highest rates that keep a limit of latency, under a row of headings; null: none was found. */
export function kneeTable(points: readonly Point[]): string[][] | null {
  const knees = points.filter((point) => isValid(point) && point.sloMicros !== undefined)
  return knees.length === 0 ? null : [HEADINGS, ...knees.map((knee) => row(knee, saturationOf(knee, points)))]
}

function row(knee: Point, saturation: Point | undefined): string[] {
  const rate = knee.targetPerSecond ?? Number.NaN
  return [
    knee.title,
    knee.contestant,
    countText(knee.connections),
    sloText(knee.sloMicros ?? Number.NaN),
    countText(rate),
    shareText(rate / (saturation?.perSecond.mean ?? Number.NaN)),
    microsText(percentileOf(knee.latency, 99)),
  ]
}

function saturationOf(knee: Point, points: readonly Point[]): Point | undefined {
  return points.find(
    ({ kind, scenario, contestant, connections }) =>
      kind === 'saturation' &&
      scenario === knee.scenario &&
      contestant === knee.contestant &&
      connections === knee.connections,
  )
}
