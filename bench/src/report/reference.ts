import { existsSync, readFileSync } from 'node:fs'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Point } from '../model/summary.js'

/** The file of one published report, the set-up of which a suite repeats. */
const ReferenceFile = Type.Object({
  suite: Type.String(),
  product: Type.String(),
  /** What it ran on: other hardware makes a ratio a hint and no result. */
  hardware: Type.String(),
  measuredWith: Type.String(),
  columns: Type.Array(Type.String()),
  rows: Type.Array(Type.Array(Type.Union([Type.String(), Type.Number(), Type.Null()]))),
})

/** One row of a published report; latencies are milliseconds, and what was not published is null. */
export interface ReferencePoint {
  /** The id of the scenario that repeats it. */
  readonly scenario: string
  readonly cpus: number
  /** Null: the report gives its best figure only. */
  readonly connections: number | null
  readonly kind: Point['kind']
  readonly perSecond: number
  readonly p99?: number | null
}

/** The figures of one published report. */
export type Reference = Omit<Static<typeof ReferenceFile>, 'columns' | 'rows'> & {
  readonly points: readonly ReferencePoint[]
}

/** The published figures that a suite stands beside; null: there are none. */
export function referenceFor(suite: string): Reference | null {
  const file = new URL(`../../reference/${encodeURIComponent(suite)}.json`, import.meta.url)
  if (!existsSync(file)) return null
  const { columns, rows, ...head } = Value.Parse(ReferenceFile, JSON.parse(readFileSync(file, 'utf8')))
  const points = rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])))
  return { ...head, points: points as unknown as ReferencePoint[] }
}

/**
 * The published row that was measured like this point: same scenario, kind and number of connections, or the best row
 * when the report names none. Null: there is none, and for a point that is no result.
 */
export function referenceBeside(point: Point, { points }: Reference): ReferencePoint | null {
  if (point.invalid.length > 0) return null
  const alike = points.filter(({ scenario, kind }) => scenario === point.scenario && kind === point.kind)
  return alike.find(({ connections }) => connections === null || connections === point.connections) ?? null
}
