import type { Bar, BarChart, BarGroup } from './chart.js'
import { type Scale, scaleFor } from './scale.js'
import { drawing, element, label, STYLES } from './svg.js'

const WIDTH = 920
const PLOT = { left: 290, right: 770 }
const TOP = 10
const BAR = 17
const BAR_GAP = 3
const GROUP_GAP = 13
/** Room for the numbers and the name of the axis. */
const FOOT = 44
/** Characters that fit in front of the bars. */
const LABEL_LENGTH = 46

/** Draws bars in groups, their figures behind them. */
export function barChartSvg(chart: BarChart, id: string): string {
  const bars = chart.groups.flatMap((group) => group.bars)
  const values = bars.flatMap(({ value, range }) => [value, ...(range ?? [])])
  const x = scaleFor('linear', values)
  const heights = chart.groups.map((group) => group.bars.length * (BAR + BAR_GAP) + GROUP_GAP)
  const bottom = TOP + heights.reduce((sum, height) => sum + height, 0)
  let y = TOP
  const groups = chart.groups.map((group, i) => {
    const drawn = groupOf(chart, group, { x, y })
    y += heights[i]!
    return drawn
  })
  const content = grid(chart, x, bottom) + groups.join('')
  return drawing(id, chart, { width: WIDTH, height: bottom + FOOT }, content)
}

interface Seat {
  readonly x: Scale
  /** The upper end of the group. */
  readonly y: number
}

function groupOf(chart: BarChart, group: BarGroup, { x, y }: Seat): string {
  const middle = y + (group.bars.length * (BAR + BAR_GAP)) / 2 + 3
  const name = label(PLOT.left - 12, middle, shortened(group.label), { class: 'group', 'text-anchor': 'end' })
  const bars = group.bars.map((bar, i) => barOf(chart, bar, { x, y: y + i * (BAR + BAR_GAP) }))
  return name + bars.join('')
}

function barOf(chart: BarChart, bar: Bar, { x, y }: Seat): string {
  const series = chart.series.indexOf(bar.series) % STYLES
  const end = xOf(x, Math.max(0, bar.value))
  const width = Math.max(1, end - PLOT.left)
  const box = element('rect', { x: PLOT.left, y, width, height: BAR, rx: 2, class: `bar s${series}` })
  const figure = [chart.xText(bar.value), bar.note].filter((part) => part !== '').join('  ')
  const furthest = Math.max(end, bar.range === null ? 0 : xOf(x, bar.range[1]))
  return box + rangeOf(bar, x, y) + label(furthest + 7, y + BAR - 4, figure, { class: 'figure' })
}

function rangeOf({ range }: Bar, x: Scale, y: number): string {
  if (range === null || range[0] === range[1]) return ''
  const middle = y + BAR / 2
  const ends = {
    x1: xOf(x, Math.max(0, range[0])),
    x2: xOf(x, Math.max(0, range[1])),
    y1: middle,
    y2: middle,
  }
  return element('line', { ...ends, class: 'whisker' })
}

function grid(chart: BarChart, x: Scale, bottom: number): string {
  const columns = x.ticks.map((tick) => {
    const place = xOf(x, tick)
    const rule = element('line', { x1: place, x2: place, y1: TOP - 4, y2: bottom - 4, class: 'grid' })
    return rule + label(place, bottom + 13, chart.xText(tick), { class: 'tick', 'text-anchor': 'middle' })
  })
  return (
    columns.join('') + label(PLOT.right, bottom + 33, chart.xLabel, { class: 'name', 'text-anchor': 'end' })
  )
}

function xOf(x: Scale, value: number): number {
  return PLOT.left + x.place(value) * (PLOT.right - PLOT.left)
}

function shortened(text: string): string {
  const characters = [...text]
  return characters.length <= LABEL_LENGTH ? text : `${characters.slice(0, LABEL_LENGTH - 1).join('')}…`
}
