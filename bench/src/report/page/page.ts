import type { Summary } from '../../model/summary.js'
import { referenceFor } from '../../reference/reference.js'
import type { Chart } from '../chart/chart.js'
import { figureHtml } from '../chart/figure.js'
import { connectionCharts } from '../charts/connection-charts.js'
import { logChart } from '../charts/log-chart.js'
import { policyChart } from '../charts/policy-chart.js'
import { rateCharts } from '../charts/rate-charts.js'
import { rivalChart } from '../charts/rival-chart.js'
import { scalingChart } from '../charts/scaling-chart.js'
import { spectrumCharts } from '../charts/spectrum-charts.js'
import { costRemark } from '../cost.js'
import { kneeTable } from '../knee-table.js'
import { enginesText, percentilesText } from '../load-generators.js'
import { escaped } from '../markup.js'
import { glanceHtml, noticesHtml } from './glance.js'
import { factsHtml, workersHtml } from './machine.js'
import { pointsHtml } from './points.js'
import { referenceHtml } from './reference-table.js'
import { rivalsHtml } from './rivals-table.js'
import { STYLE } from './style.js'
import { tableHtml } from './table.js'
import { trialsHtml } from './trials.js'

interface Section {
  readonly id: string
  readonly heading: string
  /** A sentence below the heading; empty: none. */
  readonly text: string
  /** Markup; empty: the section is left out. */
  readonly content: string
}

/** `report.html`: one file that needs nothing else, neither network nor JavaScript; well-formed as XML, too. */
export function reportHtml(summary: Summary): string {
  const sections = sectionsOf(summary).filter(({ content }) => content !== '')
  const links = sections.map(({ id, heading }) => `<a href="#${id}">${escaped(heading)}</a>`)
  const when = `${dateText(summary.startedAt)} to ${dateText(summary.endedAt)}`
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
<title>gw bench: ${escaped(summary.suite)}, ${escaped(summary.id)}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>Benchmark ${escaped(summary.suite)}</h1>
<p>${escaped(when)} · load by ${escaped(enginesText(summary))} · ${escaped(summary.host.cpuModel)}, ${summary.host.cpus} CPUs<br/><code>${escaped(summary.command)}</code></p>
${glanceHtml(summary)}
${noticesHtml(summary)}
<nav aria-label="Sections">${links.join(' ')}</nav>
</header>
<main>
${sections.map(sectionHtml).join('\n')}
</main>
<footer><p>${escaped(footerText(summary))}</p></footer>
</body>
</html>
`
}

function footerText(summary: Summary): string {
  const charts =
    'What an invalid point measured is in no chart, but for CPU time where that is a result all the same.'
  return [`Run ${summary.id}.`, percentilesText(summary), charts].filter((text) => text !== '').join(' ')
}

function sectionsOf(summary: Summary): Section[] {
  const { points } = summary
  const reference = referenceFor(summary.suite)
  const rivals = chartsHtml('rivals', present(rivalChart(points)))
  return [
    section('rivals', 'Contestants', '', rivals + rivalsHtml(points)),
    section('load', 'Throughput and concurrency', SATURATION, chartsHtml('load', connectionCharts(points))),
    section('knee', 'Highest rates', KNEES, kneesHtml(points)),
    section('rate', 'Latency at fixed rates', RATES, chartsHtml('rate', rateCharts(points))),
    section('log', 'Traffic log', '', chartsHtml('log', present(logChart(points)))),
    section('scaling', 'Scaling', '', chartsHtml('scaling', present(scalingChart(points)))),
    section('policies', 'Policies', '', chartsHtml('policies', present(policyChart(points)))),
    section('spectrum', 'Percentiles', '', chartsHtml('spectrum', spectrumCharts(points))),
    section('reference', 'Published figures', '', reference === null ? '' : referenceHtml(points, reference)),
    section(
      'points',
      'All points',
      [POINTS, costRemark(points) ?? ''].join(' ').trim(),
      points.length === 0 ? '' : pointsHtml(points, summary.host),
    ),
    section('workers', 'Workers', WORKERS, workersHtml(points)),
    section('trials', 'Trials', TRIALS, trialsHtml(summary.trials ?? [])),
    section('machine', 'Machine and method', '', factsHtml(summary)),
  ]
}

const SATURATION =
  'Everybody asks as fast as possible. Throughput is the result; the latency tells how long the line was and is no figure for users.'
const RATES =
  'Requests are planned ahead and sent at a rate below saturation, whatever the answers do. This is the latency that users see.'
const KNEES =
  'The highest rate that keeps the P99 below the limit and the errors below 0.1 %: what a user can count on.'
const POINTS =
  'Every measurement. One whose generator or origin was the bottleneck, that had errors or ran on a busy machine, is marked invalid: its figures are no result, but for CPU time where that is shown. The ceiling is how many times as much generator and origin did by themselves; generator says how busy the load generator was. Latencies in brackets were taken at overload: they tell the length of the line. The last figure is requests a second over the CPU score of the cores that the contestant had, to compare machines by.'
const WORKERS =
  'What Node.js and the kernel say of each worker over the measured time: how often its threads waited for something, and how often they were displaced from their core by others. Of the traffic log: the most records that waited to be delivered, and the age of the oldest of them, to half a second. Last, how often requests waited because all connections of a worker to the origin were taken, in all workers together.'

const TRIALS =
  'Requests are sent at a constant rate, whatever the answers do, while something is done to the system. Latency counts from when a request was due. A trial fails when anything is lost that may not be, or arrives that nobody has sent.'

function section(id: string, heading: string, text: string, content: string): Section {
  return { id, heading, text, content }
}

function sectionHtml({ id, heading, text, content }: Section): string {
  const sentence = text === '' ? '' : `<p>${escaped(text)}</p>`
  return `<section id="${id}" aria-labelledby="${id}-h">\n<h2 id="${id}-h">${escaped(heading)}</h2>\n${sentence}\n${content}\n</section>`
}

function chartsHtml(prefix: string, charts: readonly Chart[]): string {
  if (charts.length === 0) return ''
  return `<div class="charts">\n${charts.map((chart, i) => figureHtml(chart, `${prefix}-${i}`)).join('')}</div>`
}

function kneesHtml(points: Summary['points']): string {
  const [headings, ...rows] = kneeTable(points) ?? []
  return headings === undefined ? '' : tableHtml(headings, rows, 'Highest rates')
}

function present(chart: Chart | null): Chart[] {
  return chart === null ? [] : [chart]
}

/** `2026-11-21 10:42 UTC` of an ISO time; what is none stays as it is. */
function dateText(time: string): string {
  const [, day, clock] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*Z$/.exec(time) ?? []
  return day === undefined ? time : `${day} ${clock} UTC`
}
