import { existsSync, readFileSync } from 'node:fs'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Point } from '../model/summary.js'

/** File with the figures of a published report. */
const ReferenceFile = Type.Object({
  suite: Type.String(),
  product: Type.String(),
  /** Hardware of the report. Ratios to other hardware are only hints. */
  hardware: Type.String(),
  measuredWith: Type.String(),
  columns: Type.Array(Type.String()),
  rows: Type.Array(Type.Array(Type.Union([Type.String(), Type.Number(), Type.Null()]))),
})

/** One row of a published report. Latencies are milliseconds, and unpublished values null. */
export interface ReferencePoint {
  /** Id of the corresponding scenario. */
  readonly scenario: string
  readonly cpus: number
  /** Number of connections, or null if the report only has its best figure. */
  readonly connections: number | null
  readonly kind: Point['kind']
  readonly perSecond: number
  readonly p99?: number | null
}

/** Figures of a published report. */
export type Reference = Omit<Static<typeof ReferenceFile>, 'columns' | 'rows'> & {
  readonly points: readonly ReferencePoint[]
}

/** Returns the published figures for a suite, or null. */
export function referenceFor(suite: string): Reference | null {
  const file = new URL(`../../reference/${encodeURIComponent(suite)}.json`, import.meta.url)
  if (!existsSync(file)) return null
  const { columns, rows, ...head } = Value.Parse(ReferenceFile, JSON.parse(readFileSync(file, 'utf8')))
  const points = rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])))
  return { ...head, points: points as unknown as ReferencePoint[] }
}

/**
 * Returns the published row with the same scenario, kind and number of connections as a point, or the best row if the
 * report has no numbers of connections. Null if there is none, or for an invalid point.
 */
export function referenceBeside(point: Point, { points }: Reference): ReferencePoint | null {
  if (point.invalid.length > 0) return null
  const alike = points.filter(({ scenario, kind }) => scenario === point.scenario && kind === point.kind)
  return alike.find(({ connections }) => connections === null || connections === point.connections) ?? null
}
