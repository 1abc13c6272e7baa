import { escaped } from '../markup.js'
import { tableHtml } from '../page/table.js'
import { barChartSvg } from './bar-chart.js'
import type { BarChart, Chart, LineChart } from './chart.js'
import { lineChartSvg } from './line-chart.js'
import { element, mark, STYLES } from './svg.js'

/** A chart with its legend, and the same figures as a table for those who cannot use it. */
export function figureHtml(chart: Chart, id: string): string {
  const svg = chart.kind === 'lines' ? lineChartSvg(chart, id) : barChartSvg(chart, id)
  const caption = `<h3>${escaped(chart.title)}</h3><p>${escaped(chart.description)}</p>`
  const table = `<details><summary>The figures</summary>${tableOf(chart)}</details>`
  return `<figure class="${chart.kind}"><figcaption>${caption}</figcaption>${legend(chart)}${svg}${table}</figure>\n`
}

function legend(chart: Chart): string {
  if (chart.kind === 'bars' && chart.series.length < 2) return ''
  const entries = chart.kind === 'bars' ? chart.series.map(barEntry) : chart.lines.map(lineEntry)
  return `<ul class="legend">${entries.join('')}</ul>`
}

function lineEntry({ name, isDashed, style }: LineChart['lines'][number]): string {
  const color = `s${style % STYLES}`
  const stroke = element('path', { d: 'M0 7L22 7', class: `line ${color}${isDashed ? ' dashed' : ''}` })
  return entry(name, stroke + (isDashed ? '' : mark(11, 7, style)))
}

function barEntry(name: string, series: number): string {
  return entry(
    name,
    element('rect', { x: 5, y: 1, width: 12, height: 12, rx: 2, class: `bar s${series % STYLES}` }),
  )
}

function entry(name: string, sign: string): string {
  const swatch = element('svg', { viewBox: '0 0 22 14', class: 'swatch', 'aria-hidden': 'true' }, sign)
  return `<li>${swatch}${escaped(name)}</li>`
}

function tableOf(chart: Chart): string {
  return chart.kind === 'lines' ? lineTable(chart) : barTable(chart)
}

function lineTable(chart: LineChart): string {
  const xs = [...new Set(chart.lines.flatMap(({ points }) => points.map(({ x }) => x)))].toSorted(
    (a, b) => a - b,
  )
  const rows = xs.map((x) => [
    chart.xText(x),
    ...chart.lines.map(({ points }) => {
      const found = points.find((point) => point.x === x)
      return found === undefined ? '' : chart.yText(found.y)
    }),
  ])
  return tableHtml([chart.xLabel, ...chart.lines.map(({ name }) => name)], rows, chart.title)
}

function barTable(chart: BarChart): string {
  const rows = chart.groups.map(({ label, bars }) => [
    label,
    ...chart.series.map((series) => {
      const found = bars.find((bar) => bar.series === series)
      return found === undefined ? '' : [chart.xText(found.value), found.note].join(' ').trim()
    }),
  ])
  return tableHtml(['', ...chart.series], rows, chart.title)
}
