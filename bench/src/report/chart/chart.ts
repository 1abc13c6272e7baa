import type { ScaleKind } from './scale.js'

/** A chart as data: what is drawn, and what stands in the table below it. */
export type Chart = LineChart | BarChart

interface ChartHead {
  readonly title: string
  /** What it shows and how it is meant, in one or two sentences. */
  readonly description: string
}

/** Figures over a quantity. */
export interface LineChart extends ChartHead {
  readonly kind: 'lines'
  readonly xLabel: string
  readonly yLabel: string
  readonly xScale: ScaleKind
  readonly yScale: ScaleKind
  readonly lines: readonly Line[]
  xText(x: number): string
  yText(y: number): string
}

export interface Line {
  readonly name: string
  /** Number of its colour and mark. */
  readonly style: number
  /** A line that is no measurement, such as an ideal. */
  readonly isDashed: boolean
  readonly points: readonly LinePoint[]
}

export interface LinePoint {
  readonly x: number
  readonly y: number
  /** Smallest and largest of the repetitions; null: not known. */
  readonly range: readonly [number, number] | null
}

/** Figures of things side by side; the longest bar is the largest figure. */
export interface BarChart extends ChartHead {
  readonly kind: 'bars'
  readonly xLabel: string
  /** One colour each, in every group the same. */
  readonly series: readonly string[]
  readonly groups: readonly BarGroup[]
  xText(x: number): string
}

export interface BarGroup {
  readonly label: string
  readonly bars: readonly Bar[]
}

export interface Bar {
  readonly series: string
  readonly value: number
  readonly range: readonly [number, number] | null
  /** Stands behind the value, such as a ratio; empty: nothing. */
  readonly note: string
}
