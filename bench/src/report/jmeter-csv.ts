import type { Point, Summary } from '../model/summary.js'
import { type CsvCell, csvText } from './csv.js'
import { errorCount, isValid, percentileOf } from './figures.js'

/**
 * Name and content of the columns that the summaries of WSO2's performance repositories have, in milliseconds, so that
 * their scripts read ours. What the load generator does not tell stays empty, and so does the heap, for which nobody
 * sets a limit.
 */
const COLUMNS: readonly (readonly [string, (point: Point) => CsvCell])[] = [
  ['Scenario Name', (point) => point.title],
  ['Heap Size', () => null],
  ['Concurrent Users', (point) => point.connections],
  ['Message Size (Bytes)', (point) => point.bodyBytes],
  ['Back-end Service Delay (ms)', (point) => point.originDelayMs ?? null],
  ['Label', (point) => `${point.contestant} ${point.kind}`],
  ['# Samples', (point) => point.requests],
  ['Error Count', errorCount],
  ['Error %', errorPercent],
  ['Throughput (Requests/sec)', (point) => rounded(point.perSecond.mean)],
  ['Average Response Time (ms)', (point) => millis(point.latency?.meanMicros)],
  ['Average Users in the System', usersInSystem],
  ['Standard Deviation of Response Time (ms)', (point) => millis(point.latency?.stdevMicros)],
  ['Minimum Response Time (ms)', (point) => millis(percentileOf(point.latency, 0))],
  ['Maximum Response Time (ms)', (point) => millis(point.latency?.maxMicros)],
  ['75th Percentile of Response Time (ms)', (point) => millis(percentileOf(point.latency, 75))],
  ['90th Percentile of Response Time (ms)', (point) => millis(percentileOf(point.latency, 90))],
  ['95th Percentile of Response Time (ms)', (point) => millis(percentileOf(point.latency, 95))],
  ['98th Percentile of Response Time (ms)', (point) => millis(percentileOf(point.latency, 98))],
  ['99th Percentile of Response Time (ms)', (point) => millis(percentileOf(point.latency, 99))],
  ['99.9th Percentile of Response Time (ms)', (point) => millis(percentileOf(point.latency, 99.9))],
  ['Received (KB/sec)', (point) => kilobytes(point.receivedPerSecond)],
  ['Sent (KB/sec)', (point) => kilobytes(point.sentPerSecond)],
]

/** `jmeter.csv`: only points that are results, because this form has no column to say that one is not. */
export function jmeterCsv(summary: Summary): string {
  const rows = summary.points.filter(isValid).map((point) => COLUMNS.map(([, cell]) => cell(point)))
  return csvText([COLUMNS.map(([name]) => name), ...rows])
}

function millis(micros: number | null | undefined): number | null {
  return micros === null || micros === undefined ? null : rounded(micros / 1000)
}

/** JMeter's kilobyte has 1,024 bytes. */
function kilobytes(bytes: number | undefined): number | null {
  return bytes === undefined ? null : rounded(bytes / 1024)
}

function errorPercent(point: Point): number {
  const errors = errorCount(point)
  return errors === 0 ? 0 : rounded((100 * errors) / (point.requests + errors))
}

/** Little's law: what is under way is the rate times the time in the system. */
function usersInSystem(point: Point): number | null {
  return point.latency === null
    ? null
    : rounded((point.perSecond.mean * point.latency.meanMicros) / 1_000_000)
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}
