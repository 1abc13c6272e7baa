import type { Point } from '../../model/summary.js'
import { countText, ratioText, threeDigits } from '../figures.js'
import { escaped } from '../markup.js'
import { contestantsOf, cpuRatio, OURS, type Rivalry, rivalries } from '../rivals.js'
import { tableHtml } from './table.js'

/** CPU time with our ratio to each contestant, and throughput; empty when only one took part. */
export function rivalsHtml(points: readonly Point[]): string {
  return rivalTables(points)
    .map(({ name, headings, rows }) => `<h3>${escaped(name)}</h3>${tableHtml(headings, rows, name)}`)
    .join('')
}

/** A table as text. */
interface TextTable {
  readonly name: string
  readonly headings: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** The same as text, for other forms of the report. */
export function rivalTables(points: readonly Point[]): TextTable[] {
  const found = rivalries(points)
  if (found.length === 0) return []
  const names = contestantsOf(found.flatMap((rivalry) => [...rivalry.points.values()]))
  const rivals = names.filter((name) => name !== OURS)
  const place = ['scenario', 'connections']
  const costs = {
    name: 'CPU time of a request side by side',
    headings: [...place, ...names.map((name) => `${name} µs`), ...rivals.map((name) => `${OURS} / ${name}`)],
    rows: found.map((rivalry) => [
      ...placeOf(rivalry),
      ...names.map((name) => figure(rivalry, name, (point) => threeDigits(point.cpuMicrosPerRequest.mean))),
      ...rivals.map((name) => ratioText(cpuRatio(rivalry, name))),
    ]),
  }
  const rates = {
    name: 'Throughput side by side',
    headings: [...place, ...names.map((name) => `${name} requests/s`)],
    rows: found.map((rivalry) => [
      ...placeOf(rivalry),
      ...names.map((name) => figure(rivalry, name, (point) => countText(point.perSecond.mean))),
    ]),
  }
  return [costs, rates]
}

function placeOf({ sample }: Rivalry): string[] {
  return [sample.title, countText(sample.connections)]
}

function figure({ points }: Rivalry, name: string, text: (point: Point) => string): string {
  const point = points.get(name)
  return point === undefined ? '–' : text(point)
}
