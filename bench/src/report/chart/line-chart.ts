import type { Line, LineChart, LinePoint } from './chart.js'
import { type Scale, scaleFor } from './scale.js'
import { drawing, element, label, mark, STYLES } from './svg.js'

const SIZE = { width: 560, height: 300 }
const PLOT = { left: 62, right: 546, top: 26, bottom: 254 }

interface Axes {
  readonly x: Scale
  readonly y: Scale
}

/** Draws lines with their marks and the range of the repetitions. */
export function lineChartSvg(chart: LineChart, id: string): string {
  const points = chart.lines.flatMap((line) => line.points)
  const axes = {
    x: xScale(chart, points),
    y: scaleFor(chart.yScale, [...points.map(({ y }) => y), ...points.flatMap(({ range }) => range ?? [])]),
  }
  const lines = chart.lines.map((line) => lineOf(line, axes))
  return drawing(id, chart, SIZE, grid(chart, axes) + lines.join(''))
}

/** The values of the measurements are the ticks when they are few: nobody asks for what lies between 250 and 500 connections. */
function xScale(chart: LineChart, points: readonly LinePoint[]): Scale {
  const values = points.map(({ x }) => x)
  if (chart.xScale !== 'log') return scaleFor(chart.xScale, values)
  const ticks = [...new Set(values)].toSorted((a, b) => a - b)
  const [least, most] = [Math.log(ticks[0] ?? 1), Math.log(ticks.at(-1) ?? 1)]
  if (least === most) return { place: () => 0.5, ticks }
  const margin = 0.03
  const place = (value: number): number =>
    margin + ((1 - 2 * margin) * (Math.log(value) - least)) / (most - least)
  return { place, ticks: spacedTicks(ticks, place) }
}

/** A share of the width that a number under the axis needs. */
const TICK_ROOM = 0.066

function spacedTicks(ticks: readonly number[], place: (value: number) => number): number[] {
  const kept: number[] = []
  for (const tick of ticks) {
    const last = kept.at(-1)
    if (last === undefined || place(tick) - place(last) >= TICK_ROOM) kept.push(tick)
  }
  return kept
}

function grid(chart: LineChart, axes: Axes): string {
  const rows = axes.y.ticks.map((tick) => {
    const y = yOf(axes, tick)
    const rule = element('line', { x1: PLOT.left, x2: PLOT.right, y1: y, y2: y, class: 'grid' })
    return rule + label(PLOT.left - 8, y + 4, chart.yText(tick), { class: 'tick', 'text-anchor': 'end' })
  })
  const columns = axes.x.ticks.map((tick) =>
    label(xOf(axes, tick), PLOT.bottom + 18, chart.xText(tick), { class: 'tick', 'text-anchor': 'middle' }),
  )
  const axis = element('line', {
    x1: PLOT.left,
    x2: PLOT.right,
    y1: PLOT.bottom,
    y2: PLOT.bottom,
    class: 'axis',
  })
  const names =
    label(PLOT.left - 54, 12, chart.yLabel, { class: 'name' }) +
    label(PLOT.right, PLOT.bottom + 38, chart.xLabel, { class: 'name', 'text-anchor': 'end' })
  return rows.join('') + columns.join('') + axis + names
}

function lineOf(line: Line, axes: Axes): string {
  const color = `s${line.style % STYLES}`
  const sorted = line.points.toSorted((a, b) => a.x - b.x)
  const path = sorted
    .map(({ x, y }, i) => `${i === 0 ? 'M' : 'L'}${round(xOf(axes, x))} ${round(yOf(axes, y))}`)
    .join('')
  const stroke = element('path', { d: path, class: `line ${color}${line.isDashed ? ' dashed' : ''}` })
  if (line.isDashed) return stroke
  const ranges = sorted.map((point) => rangeOf(point, color, axes))
  const marks = sorted.map(({ x, y }) => mark(xOf(axes, x), yOf(axes, y), line.style))
  return stroke + ranges.join('') + marks.join('')
}

function rangeOf({ x, range }: LinePoint, color: string, axes: Axes): string {
  if (range === null || range[0] === range[1]) return ''
  const place = xOf(axes, x)
  const ends = { x1: place, x2: place, y1: yOf(axes, range[0]), y2: yOf(axes, range[1]) }
  return element('line', { ...ends, class: `range ${color}` })
}

function xOf({ x }: Axes, value: number): number {
  return PLOT.left + x.place(value) * (PLOT.right - PLOT.left)
}

function yOf({ y }: Axes, value: number): number {
  return PLOT.bottom - y.place(value) * (PLOT.bottom - PLOT.top)
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
