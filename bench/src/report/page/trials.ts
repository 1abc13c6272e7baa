import type { Trial } from '../../model/trial.js'
import { escaped } from '../markup.js'
import { trialLine, trialTable } from '../trial-table.js'
import { tableHtml } from './table.js'

/** Every trial with its verdict, and below what was done; empty without trials. */
export function trialsHtml(trials: readonly Trial[]): string {
  if (trials.length === 0) return ''
  const [headings, ...rows] = trialTable(trials)
  const lines = trials.map((trial) => `<li>${escaped(trialLine(trial))}</li>`)
  return `${tableHtml(headings!, rows, 'Trials')}<ul>${lines.join('')}</ul>`
}
