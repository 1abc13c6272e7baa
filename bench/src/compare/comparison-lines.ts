import { formatSize } from '@sluice/core'
import { busyText } from '../report/cost.js'
import { changeText, countText, microsText } from '../report/figures.js'
import type { ComparedPoint, Comparison, MetricChange } from './comparison.js'

/** A comparison for a terminal or the log of a CI run. */
export function comparisonLines(comparison: Omit<Comparison, 'lines'>): string[] {
  const { points, trials, onlyBefore, onlyAfter, noEvidence, warnings, isFailed } = comparison
  return [
    ...points.flatMap(pointLines),
    ...trials.map(({ name, before, text }) => `${name}: ${before} → ${text}`),
    ...noEvidence.map((name) => `no evidence: ${name}`),
    ...onlyBefore.map((name) => `only before: ${name}`),
    ...onlyAfter.map((name) => `only after: ${name}`),
    ...warnings.map((warning) => `warning: ${warning}`),
    isFailed ? 'FAILED' : points.length + trials.length === 0 ? 'nothing was compared' : 'ok',
  ]
}

function pointLines({ name, before, after, changes, verdicts }: ComparedPoint): string[] {
  const judged = verdicts
    .filter(({ outcome }) => outcome !== 'kept')
    .map(({ limit, outcome }) => `  ${outcome === 'broken' ? 'BROKEN' : 'unclear'}: ${limit.text}`)
  const notes = [before, after].map(busyText)
  return [name, ...changes.map((change) => changeLine(change, notes)), ...judged]
}

function changeLine({ metric, before, after, change, range }: MetricChange, busy: readonly string[]): string {
  const [first = '', second = ''] = metric === 'cpu' ? busy : []
  const figures = `${figureText(metric, before)}${first} → ${figureText(metric, after)}${second}`
  const spread = range === null ? 'no range' : `95 %: ${changeText(range.low)} to ${changeText(range.high)}`
  return `  ${metric.padEnd(4)} ${figures}  ${changeText(change)} (${spread})`
}

function figureText(metric: MetricChange['metric'], value: number): string {
  if (metric === 'rps') return countText(value)
  return metric === 'rss' ? formatSize(value) : microsText(value)
}
