import type { Point } from '../model/summary.js'
import { costRemark, costText, hasCost } from './cost.js'
import { countText, isValid, ratioText, threeDigits } from './figures.js'
import { contestantsOf, cpuRatio, OURS, type Rivalry, rivalries } from './rivals.js'

/** A table as text. */
export interface TextTable {
  readonly name: string
  readonly headings: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** What has to be known to read it; null: nothing. */
  readonly remark: string | null
}

/** CPU time of a request with our ratio to each contestant, and throughput; empty when only one has results. */
export function rivalTables(points: readonly Point[]): TextTable[] {
  return [costTable(rivalries(points, hasCost)), rateTable(rivalries(points, isValid))].filter(
    ({ rows }) => rows.length > 0,
  )
}

const PLACE = ['scenario', 'connections']

function costTable(found: readonly Rivalry[]): TextTable {
  const names = namesIn(found)
  const rivals = names.filter((name) => name !== OURS)
  return {
    name: 'CPU time of a request side by side',
    headings: [...PLACE, ...names.map((name) => `${name} µs`), ...rivals.map((name) => `${OURS} / ${name}`)],
    rows: found.map((rivalry) => [
      ...placeOf(rivalry),
      ...names.map((name) => figure(rivalry, name, (point) => costText(point, threeDigits))),
      ...rivals.map((name) => ratioText(cpuRatio(rivalry, name))),
    ]),
    remark: costRemark(found.flatMap(({ points }) => [...points.values()])),
  }
}

function rateTable(found: readonly Rivalry[]): TextTable {
  const names = namesIn(found)
  return {
    name: 'Throughput side by side',
    headings: [...PLACE, ...names.map((name) => `${name} requests/s`)],
    rows: found.map((rivalry) => [
      ...placeOf(rivalry),
      ...names.map((name) => figure(rivalry, name, (point) => countText(point.perSecond.mean))),
    ]),
    remark: null,
  }
}

function namesIn(found: readonly Rivalry[]): string[] {
  return contestantsOf(found.flatMap((rivalry) => [...rivalry.points.values()]))
}

function placeOf({ sample }: Rivalry): string[] {
  return [sample.title, countText(sample.connections)]
}

function figure({ points }: Rivalry, name: string, text: (point: Point) => string): string {
  const point = points.get(name)
  return point === undefined ? '–' : text(point)
}
