import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { median } from '../lib/statistics.js'
import { OURS, TARGET } from '../model/run.js'
import type { Summary } from '../model/summary.js'
import { verdictOf } from '../model/trial.js'
import { type Chart, chartsOf } from './charts.js'
import { comparablePoints, cpuRatio } from './cost.js'
import { countText, hasFigures, isValid, MARK, markOf, ratioText } from './figures.js'
import { predictionsOf, predictionTable } from './predictions.js'
import { systemsOf } from './relations.js'
import {
  comparisonTable,
  factRows,
  referenceTable,
  type TextTable,
  trialTable,
  wholePointTable,
  workerTable,
} from './tables.js'

/** Returns `report.html`: one file with Chart.js that needs no network. */
export function reportHtml(summary: Summary): string {
  const { points, host, warnings } = summary
  const tables = [
    trialTable(summary.trials),
    comparisonTable(points),
    referenceTable(summary),
    points.length === 0 ? null : wholePointTable(points, host),
    predictionTable(predictionsOf(points)),
    workerTable(points),
  ].filter((table) => table !== null)
  const charts = chartsOf(points)
  const facts = factRows(summary).map(([name, text]) => `<dt>${escaped(name)}</dt><dd>${escaped(text)}</dd>`)
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>gw bench: ${escaped(summary.suite)}, ${escaped(summary.id)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Benchmark ${escaped(summary.suite)}</h1>
<p>${escaped(summary.startedAt)} to ${escaped(summary.endedAt)} · <code>${escaped(summary.command)}</code></p>
<dl class="tiles">${tilesOf(summary).map(tileHtml).join('')}</dl>
${noticeHtml('Warnings of this run', warnings)}
${noticeHtml('Points without figures', [...new Set(points.flatMap(({ invalid }) => invalid))])}
<div class="charts">${charts.map(figureHtml).join('')}</div>
${tables.map(sectionHtml).join('\n')}
<h2>Machine and method</h2>
<dl class="facts">${facts.join('')}</dl>
${charts.length === 0 ? '' : scripts(charts)}
</main>
</body>
</html>
`
}

type Tile = readonly [name: string, figure: string, remark: string]

/** Returns the most important figures. */
function tilesOf({ points, trials }: Summary): Tile[] {
  if (trials.length > 0) {
    const passed = trials.filter((trial) => verdictOf(trial) === 'passed').length
    return [['Trials passed', `${passed} of ${trials.length}`, '']]
  }
  const valid = points.filter(isValid)
  const ours = points.filter(({ system }) => system === OURS || system === TARGET)
  const saturated = ours.filter(({ kind }) => kind === 'saturation')
  const fastest = saturated.filter(hasFigures).toSorted((a, b) => b.perSecond.mean - a.perSecond.mean)[0]
  const groups = comparablePoints(points)
  return [
    ...(fastest === undefined
      ? []
      : [
          [
            'Highest throughput',
            `${markOf(fastest)}${countText(fastest.perSecond.mean)}/s`,
            fastest.title,
          ] as Tile,
        ]),
    ...systemsOf(points).flatMap((peer): Tile[] => {
      const ratios = groups.flatMap((group) => cpuRatio(group, peer) ?? [])
      const mark = ratios.some(({ isDoubtful }) => isDoubtful) ? MARK : ''
      if (ratios.length === 0 || peer === OURS) return []
      const middle = `${mark}${ratioText(median(ratios.map((one) => one.median)))} ×`
      return [[`CPU relative to ${peer}`, middle, `median of ${ratios.length} points`]]
    }),
    ['Points', `${valid.length} of ${points.length}`, 'without warnings'],
  ]
}

function tileHtml([name, figure, remark]: Tile): string {
  return `<div><dt>${escaped(name)}</dt><dd>${escaped(figure)}<small>${escaped(remark)}</small></dd></div>`
}

function noticeHtml(heading: string, lines: readonly string[]): string {
  if (lines.length === 0) return ''
  const items = lines.map((line) => `<li>${escaped(line)}</li>`).join('')
  return `<div class="notice"><strong>${heading}</strong><ul>${items}</ul></div>`
}

function figureHtml({ title, description, config }: Chart, i: number): string {
  const { type, height = 320 } = config as { readonly type: string; readonly height?: number }
  const caption = `<figcaption><strong>${escaped(title)}</strong><br>${escaped(description)}</figcaption>`
  const canvas = `<canvas id="chart-${i}" role="img" aria-label="${escaped(title)}"></canvas>`
  return `<figure class="${type}">${caption}<div style="height:${height}px">${canvas}</div></figure>`
}

function sectionHtml({ name, headings, rows, remark }: TextTable): string {
  const head = headings.map((text) => `<th>${escaped(text)}</th>`).join('')
  const body = rows.map((row) => `<tr>${row.map(cellHtml).join('')}</tr>`)
  const table = `<div class="wide" role="region" tabindex="0" aria-label="${escaped(name)}"><table><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table></div>`
  return `<h2>${escaped(name)}</h2><p>${escaped(remark)}</p>${table}`
}

/** Returns a table cell. Long texts wrap, other cells stay on one line. */
function cellHtml(text: string): string {
  return `<td${text.length > LONG_TEXT ? ' class="long"' : ''}>${escaped(text)}</td>`
}

/** Returns the library, the chart data and the script that draws them. */
function scripts(charts: readonly Chart[]): string {
  const require = createRequire(import.meta.url)
  const library = join(dirname(require.resolve('chart.js')), 'chart.umd.min.js')
  // Characters that could end the script are escaped.
  const data = JSON.stringify(charts.map(({ config }) => config)).replaceAll('<', '\\u003c')
  return `<script>${readFileSync(library, 'utf8').replace(/\/\/# sourceMappingURL=\S+/, '')}</script>
<script>
${DRAWING}
draw(${data})
</script>`
}

/**
 * Draws the charts in the colours of the page, and again if these change. Ticks are 1, 2 or 5 times a power of ten,
 * with thousands separators, and with the unit if it is short.
 */
const DRAWING = `
Object.assign(Chart.defaults, { maintainAspectRatio: false, animation: false, spanGaps: true });
const plain = (axis) => {
  if (axis.type === 'category') return;
  const unit = { ms: ' ms' }[axis.title.text] ?? (/^µs/.test(axis.title.text) ? ' µs' : '');
  const text = (value) => value.toLocaleString('en-US', { maximumSignificantDigits: 12 }) + unit;
  axis.ticks = { callback: text, maxRotation: 0, autoSkipPadding: 8 };
  if (axis.type === 'logarithmic') axis.afterBuildTicks = (scale) => {
    scale.ticks = scale.ticks.filter(({ value }) => /^[125]e/.test(value.toExponential()));
  };
};
const tint = () => {
  const style = getComputedStyle(document.body);
  Chart.defaults.color = style.color;
  Chart.defaults.borderColor = style.getPropertyValue('--line');
};
function draw(configs) {
  tint();
  const charts = configs.map((config, i) => {
    Object.values(config.options.scales).forEach(plain);
    return new Chart(document.getElementById('chart-' + i), config);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    tint();
    charts.forEach((chart) => chart.update());
  });
}`

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)
}

/** Number of characters above which the text of a table cell wraps. */
const LONG_TEXT = 44

const STYLE = `
:root { color-scheme: light dark; --text: #1d2125; --faint: #555; --page: #fff; --line: #ddd; --notice: #fcefee; --edge: #a3262a; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e7ea; --faint: #a8b0b8; --page: #16191c; --line: #3a4047; --notice: #3a2022; --edge: #e0656a; }
}
body { max-width: 1200px; margin: 0 auto; padding: 32px 20px; font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); overflow-wrap: anywhere; }
h1 { font-size: 28px; } h2 { font-size: 20px; margin-top: 44px; } p, figcaption, dt { color: var(--faint); font-size: 13px; max-width: 90ch; }
.tiles { display: flex; flex-wrap: wrap; gap: 12px; } .tiles div { border: 1px solid var(--line); border-radius: 8px; padding: 10px 16px; }
.tiles dd { margin: 0; font-size: 24px; font-weight: 600; } .tiles small { display: block; font-size: 12px; font-weight: 400; color: var(--faint); }
.notice { border-left: 3px solid var(--edge); background: var(--notice); padding: 8px 16px; margin: 12px 0; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 520px), 1fr)); gap: 20px; }
figure { margin: 0; padding: 14px; border: 1px solid var(--line); border-radius: 8px; min-width: 0; } figure.bar { grid-column: 1 / -1; }
.wide { overflow-x: auto; overflow-wrap: normal; } table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 14px 5px 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); white-space: nowrap; }
td.long { white-space: normal; min-width: 44ch; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 4px 24px; } .facts dd { margin: 0; }
@media (max-width: 600px) { body { padding: 16px 12px; } .facts { display: block; } .facts dd { margin-bottom: 8px; } }`
