import type { Point } from '../../model/summary.js'
import { countText, ratioText, threeDigits } from '../figures.js'
import { contestantsOf, cpuRatio, OURS, type Rivalry, rivalries } from '../rivals.js'
import { tableHtml } from './table.js'

/** CPU time and throughput of all contestants, with our ratio to each; empty when only one took part. */
export function rivalsHtml(points: readonly Point[]): string {
  const { headings, rows } = rivalRows(points)
  return rows.length === 0 ? '' : tableHtml(headings, rows, 'Contestants side by side')
}

/** The same as text, for other forms of the report. */
export function rivalRows(points: readonly Point[]): { headings: string[]; rows: string[][] } {
  const found = rivalries(points)
  const names = contestantsOf(found.flatMap((rivalry) => [...rivalry.points.values()]))
  const rivals = names.filter((name) => name !== OURS)
  const headings = [
    'scenario',
    'connections',
    ...names.map((name) => `${name} CPU µs`),
    ...rivals.map((name) => `${OURS} / ${name}`),
    ...names.map((name) => `${name} requests/s`),
  ]
  return { headings, rows: found.map((rivalry) => rowOf(rivalry, names, rivals)) }
}

function rowOf(rivalry: Rivalry, names: readonly string[], rivals: readonly string[]): string[] {
  const { sample, points } = rivalry
  const figure = (name: string, text: (point: Point) => string): string => {
    const point = points.get(name)
    return point === undefined ? '–' : text(point)
  }
  return [
    sample.title,
    countText(sample.connections),
    ...names.map((name) => figure(name, ({ cpuMicrosPerRequest }) => threeDigits(cpuMicrosPerRequest.mean))),
    ...rivals.map((name) => ratioText(cpuRatio(rivalry, name))),
    ...names.map((name) => figure(name, ({ perSecond }) => countText(perSecond.mean))),
  ]
}
