import type { Summary } from '../model/summary.js'
import type { Trial } from '../model/trial.js'
import { referenceFor } from '../reference/reference.js'
import { costRemark, hasCost } from './cost.js'
import { isValid } from './figures.js'
import { kneeTable } from './knee-table.js'
import { percentilesText } from './load-generators.js'
import { markdownText } from './markup.js'
import { factRows } from './page/machine.js'
import { referenceRows } from './page/reference-table.js'
import { wholePointTable } from './point-table.js'
import { rivalTables } from './rival-tables.js'
import { trialLine, trialTable } from './trial-table.js'
import { countVerdicts } from './trial-verdict.js'

/** `report.md`: the tables of the report, for a pull request or the summary of a CI run. */
export function reportMarkdown(summary: Summary): string {
  return [
    `# Benchmark ${markdownText(summary.suite)}`,
    '',
    ...(summary.trials === undefined ? pointCount(summary) : trialCount(summary.trials)),
    '',
    ...summary.warnings.map((warning) => `> Warning: ${markdownText(warning)}\n`),
    ...kneeSection(summary),
    ...(summary.trials === undefined ? pointSection(summary) : trialSection(summary.trials)),
    ...rivalSection(summary),
    ...referenceSection(summary),
    '## Machine and method',
    '',
    ...factRows(summary).map(([name, text]) => `* ${name}: ${markdownText(text)}`),
    '',
  ].join('\n')
}

/** What the columns of the points mean. */
function legend(summary: Summary): string[] {
  const sentences = [
    'The ceiling is how many times as much load generator and origin did by themselves, with the same call; generator says how busy the load generator was. The last column is requests a second over the CPU score of the cores that the contestant had, to compare machines by.',
    costRemark(summary.points),
    percentilesText(summary),
  ]
  return sentences.flatMap((text) => (text === null || text === '' ? [] : [markdownText(text), '']))
}

function pointCount({ points }: Summary): string[] {
  const valid = points.filter(isValid).length
  const more = points.filter((point) => !isValid(point) && hasCost(point)).length
  const rest = more === 0 ? '' : `, ${more} more of CPU time alone`
  return [
    `${valid} of ${points.length} points are results${rest}. Latencies in brackets were taken at overload.`,
  ]
}

function pointSection(summary: Summary): string[] {
  const [headings, ...rows] = wholePointTable(summary.points, summary.host)
  return [...table(headings!, rows), ...legend(summary)]
}

function trialCount(trials: readonly Trial[]): string[] {
  const none = countVerdicts(trials, 'no result')
  const rest = none === 0 ? '' : `, ${none} ${none === 1 ? 'is' : 'are'} no result`
  return [`${countVerdicts(trials, 'passed')} of ${trials.length} trials are passed${rest}.`]
}

function trialSection(trials: readonly Trial[]): string[] {
  const [headings, ...rows] = trialTable(trials)
  const lines = trials.map((trial) => `* ${markdownText(trialLine(trial))}`)
  return ['## Trials', '', ...table(headings!, rows), ...lines, '']
}

function kneeSection({ points }: Summary): string[] {
  const [headings, ...rows] = kneeTable(points) ?? []
  return headings === undefined ? [] : ['## Highest rates', '', ...table(headings, rows), '## All points', '']
}

function rivalSection({ points }: Summary): string[] {
  const tables = rivalTables(points)
  return tables.flatMap(({ name, headings, rows }) => [`## ${name}`, '', ...table(headings, rows)])
}

function referenceSection({ suite, points }: Summary): string[] {
  const reference = referenceFor(suite)
  if (reference === null) return []
  const { headings, rows } = referenceRows(points, reference)
  if (rows.length === 0) return []
  const label = `${reference.product}, on other hardware than ours: ${reference.hardware}; ${reference.measuredWith}.`
  return ['## Published figures', '', markdownText(label), '', ...table(headings, rows)]
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.map(markdownText).join(' | ')} |`
  return [line(headings), line(headings.map(() => '---')), ...rows.map(line), '']
}
