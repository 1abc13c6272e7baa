import { formatSize } from '@sluice/core'
import type { Point, Summary, WorkerDiagnostics } from '../../model/summary.js'
import { countText, isValid, kindText, microsText, shareText } from '../figures.js'
import { enginesText } from '../load-generators.js'
import { machineRows } from '../machine-rows.js'
import { escaped } from '../markup.js'
import { memoryRows } from '../memory-rows.js'
import { tableHtml } from './table.js'

/** What the run was made on and with, so that it can be repeated. */
export function factsHtml(summary: Summary): string {
  const rows = factRows(summary).map(
    ([name, text]) =>
      `<dt>${escaped(name)}</dt><dd>${name === 'Command' ? `<code>${escaped(text)}</code>` : escaped(text)}</dd>`,
  )
  return `<dl class="facts">${rows.join('')}</dl>`
}

/** The same as text, for other forms of the report. */
export function factRows(summary: Summary): [string, string][] {
  const { host, command, startedAt, endedAt } = summary
  const versions = Object.entries(host.versions).map(([name, version]) => `${name} ${version}`)
  return [
    ['Command', command],
    ['Load', enginesText(summary)],
    ['CPU', `${host.cpuModel}, ${host.cpus} CPUs`],
    [
      'CPU score',
      `${countText(host.cpuScore)} (thousands of rounds a second of a fixed piece of work on one core)`,
    ],
    ['Memory', formatSize(host.memoryBytes)],
    ...memoryRows(summary.points),
    ['Kernel', host.kernel],
    ['Node.js', host.v8 === undefined ? host.node : `${host.node}, V8 ${host.v8}`],
    ['Versions', versions.join(', ')],
    [
      'Time of others before the run',
      `${shareText(host.foreignShare)} used, ${shareText(host.stolenShare)} taken by the machine below`,
    ],
    ...machineRows(host),
    ['Began', startedAt],
    ['Ended', endedAt],
  ]
}

const HEADINGS = [
  'scenario',
  'connections',
  'kind',
  'worker',
  'heap',
  'memory',
  'loop lag P99',
  'GC runs',
  'GC time',
  'sockets',
  'CPU time',
  'waits',
  'displaced',
  'log queue',
  'log lag',
  'log drops',
  'upstream waits of all',
]

/** Heap, garbage collection, event loop, CPU time and traffic log of every worker; empty when no result has them. */
export function workersHtml(points: readonly Point[]): string {
  const rows = points
    .filter((point) => isValid(point))
    .flatMap((point) => point.diagnostics.map((worker) => workerRow(point, worker)))
  if (rows.length === 0) return ''
  return `<details><summary>${countText(rows.length)} rows</summary>${tableHtml(HEADINGS, rows, 'Workers')}</details>`
}

function workerRow(point: Point, worker: WorkerDiagnostics): string[] {
  return [
    point.title,
    countText(point.connections),
    kindText(point),
    String(worker.worker),
    formatSize(worker.heapUsedBytes),
    formatSize(worker.rssBytes),
    microsText(worker.loopLagP99Micros),
    countText(worker.gcCount),
    microsText(worker.gcMicros),
    countText(worker.openSockets),
    microsText(worker.cpuMicros ?? null),
    countText(worker.voluntarySwitches ?? Number.NaN),
    countText(worker.involuntarySwitches ?? Number.NaN),
    countText(worker.log?.queuedRecords ?? Number.NaN),
    microsText(worker.log?.lagMicros ?? null),
    countText(worker.log?.droppedRecords ?? Number.NaN),
    countText(point.upstreamWaits ?? Number.NaN),
  ]
}
