import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { spreadOf } from '../measure/spread.js'
import type { Summary } from '../model/summary.js'
import type { SoakFigures } from '../model/trial.js'
import { csvRows } from '../testing/csv-rows.js'
import { elementsOf, type MarkupElement, markupTree, textOf } from '../testing/markup-tree.js'
import { sampleRun } from '../testing/sample-run.js'
import { samplePoint, sampleSummary } from '../testing/sample-summary.js'
import { sampleTrial } from '../testing/sample-trial.js'
import { readSummary } from './read-summary.js'
import { writeResults } from './write-results.js'

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'bench-report-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

function written(t: TestContext, summary: Summary, name: string): string {
  const dir = folder(t)
  writeResults(summary, dir)
  return readFileSync(join(dir, name), 'utf8')
}

test('a run is written in every form, into a folder that is made', (t) => {
  const dir = join(folder(t), 'results', 'run')
  const names = writeResults(sampleRun(), dir).map((path) => basename(path))
  assert.deepEqual(names, [
    'summary.json',
    'points.csv',
    'jmeter.csv',
    'report.md',
    'junit.xml',
    'report.html',
  ])
  assert.deepEqual(readSummary(join(dir, 'summary.json')), sampleRun())
})

test('commas, quotes and line ends survive in points.csv', (t) => {
  const title = 'a "quoted", title\r\nof two lines'
  const rows = csvRows(written(t, sampleSummary([samplePoint({ title })]), 'points.csv'))
  assert.equal(rows.length, 2)
  assert.equal(rows[1]![rows[0]!.indexOf('title')], title)
  assert.equal(rows[1]!.length, rows[0]!.length)
})

test('points.csv has the exact figures, also of points that are no result', (t) => {
  const point = samplePoint({ perSecond: spreadOf([1234.5]), invalid: ['busy', 'errors'] })
  const [head, row] = csvRows(written(t, sampleSummary([point]), 'points.csv'))
  const cell = (name: string): string | undefined => row![head!.indexOf(name)]
  assert.equal(cell('rps'), '1234.5')
  assert.equal(
    cell('p99'),
    String(point.latency!.percentiles.find(({ percentile }) => percentile === 99)!.micros),
  )
  assert.equal(cell('latency_at'), 'overload')
  assert.equal(cell('target_rps'), '')
  assert.deepEqual([cell('mem'), cell('mem_peak')], ['', ''], 'no limit of memory was set')
  assert.deepEqual([cell('valid'), cell('cpu_valid'), cell('reason')], ['false', 'false', 'busy; errors'])
})

test('a point whose CPU time alone is a result is that in every form, with the proof', (t) => {
  const point = samplePoint({
    ...{ invalid: ['not gateway-bound'], costInvalid: [], busyShare: 0.92, sharesCores: false },
    ...{ engine: 'wrk', generatorBusyShare: 0.42, ceilingPerSecond: 30_000 },
  })
  const summary = sampleSummary([point], { engine: 'oha', saturationEngine: 'wrk' })
  const dir = folder(t)
  writeResults(summary, dir)
  assert.deepEqual(readSummary(join(dir, 'summary.json')), summary)
  const text = (name: string): string => readFileSync(join(dir, name), 'utf8')
  const [head, row] = csvRows(text('points.csv'))
  const cells = ['valid', 'cpu_valid', 'cpu', 'generator', 'generator_busy', 'cores_shared', 'reason']
  assert.deepEqual(
    cells.map((name) => row![head!.indexOf(name)]),
    ['false', 'true', '46', 'wrk', '0.42', 'false', 'not gateway-bound'],
  )
  const markdown = text('report.md')
  assert.match(markdown, /0 of 1 points are results, 1 more of CPU time alone\. /)
  assert.match(
    markdown,
    /\| {2}\| {2}\| {2}\| 42 % \| 46 at 92 % \| {2}\| {2}\| none \| INVALID but for CPU: not gateway/,
  )
  assert.match(markdown, /A request costs more then than at full load/)
  assert.match(text('junit.xml'), /failures="1"/)
  assert.equal(csvRows(text('jmeter.csv')).length, 1)
  const tree = markupTree(text('report.html'))
  assert.match(textOf(tree), /INVALID but for CPU not gateway-bound46\.092 %/)
  assert.match(textOf(tree), /No result: 1 of 1 points, but CPU time of 1 of them is/)
  assert.match(textOf(tree), /Least CPU a request46 µs.*at 92 %/)
})

test('a limit of memory and what was used of it are in every form, and are read again', (t) => {
  const [limitBytes, mb] = [2 * 1024 ** 3, 1024 ** 2]
  const memory = { limitBytes, peakBytes: 131 * mb }
  const later = { limitBytes, peakBytes: 140 * mb }
  const unknown = { limitBytes: 2 * limitBytes, peakBytes: null }
  const points = [
    samplePoint({ memory }),
    samplePoint({ memory: later, connections: 500 }),
    samplePoint({ memory, contestant: 'nginx' }),
    samplePoint({ memory: unknown, tier: 'W4' }),
  ]
  const dir = folder(t)
  writeResults(sampleSummary(points), dir)
  assert.deepEqual(readSummary(join(dir, 'summary.json')), sampleSummary(points))
  const text = (name: string): string => readFileSync(join(dir, name), 'utf8')
  const [head, ...rows] = csvRows(text('points.csv'))
  assert.deepEqual(
    rows.map((row) => [row[head!.indexOf('mem')], row[head!.indexOf('mem_peak')]]),
    points.map(({ memory }) => [String(memory!.limitBytes), String(memory!.peakBytes ?? '')]),
  )
  const fact = 'W1 2 GB (used at most: sluice 140 MB, nginx 131 MB); W4 4 GB'
  assert.ok(text('report.md').includes(`\n* Memory of each contestant: ${fact}\n`))
  assert.ok(textOf(markupTree(text('report.html'))).includes(fact))
  writeResults(sampleSummary([samplePoint()]), dir)
  assert.doesNotMatch(text('report.md'), /Memory of each contestant/)
})

test('a highest rate is in every form, and is read again', (t) => {
  const knee = samplePoint({ kind: 'fixed-rate', targetPerSecond: 15_025, sloMicros: 50_000 })
  const summary = sampleSummary([samplePoint(), knee])
  const dir = folder(t)
  writeResults(summary, dir)
  const text = (name: string): string => readFileSync(join(dir, name), 'utf8')
  assert.deepEqual(readSummary(join(dir, 'summary.json')), summary)
  const [head, ...rows] = csvRows(text('points.csv'))
  assert.deepEqual(
    rows.map((row) => row[head!.indexOf('slo')]),
    ['', '50000'],
  )
  assert.match(text('report.md'), /## Highest rates\n\n.*\n.*\n\| W1 GET \|.*P99 &lt; 50 ms \| 15,025 \|/)
  const tables = elementsOf(markupTree(text('report.html')), 'table')
  const table = tables.find(({ attributes }) => attributes['aria-label'] === 'Highest rates')!
  assert.match(textOf(table), /P99 < 50 ms.*15,025/)
})

test('throughput over the score of the cores stands at the end of every table', (t) => {
  const two = samplePoint({ perSecond: spreadOf([82_400]), workers: 2 })
  const held = samplePoint({ kind: 'fixed-rate', targetPerSecond: 9000 })
  const dir = folder(t)
  writeResults(sampleSummary([two, held, samplePoint({ workers: 16 })]), dir)
  const text = (name: string): string => readFileSync(join(dir, name), 'utf8')
  const [head, ...rows] = csvRows(text('points.csv'))
  assert.equal(head![head!.indexOf('reason') + 1], 'rps_per_score')
  // The sample machine has a score of 412 and 8 cores; a chosen rate says nothing of the machine.
  assert.deepEqual(
    rows.map((row) => row[head!.indexOf('rps_per_score')]),
    ['100', '', String(samplePoint().perSecond.mean / (412 * 8))],
  )
  const table = text('report.md')
    .split('\n')
    .filter((line) => /^\| (scenario|W1 GET) \|/.test(line))
  assert.deepEqual(
    table.slice(0, 3).map((line) => line.split(' | ').at(-1)),
    ['per core-score |', '100 |', '– |'],
  )
  const cells = elementsOf(markupTree(text('report.html')), 'table').find(
    ({ attributes }) => attributes['aria-label'] === 'All points',
  )!
  const [titles, first] = elementsOf(cells, 'tr').map((line) =>
    line.children.map((cell) => textOf(cell as MarkupElement)),
  )
  assert.equal(first![titles!.indexOf('per core-score')], '100')
})

test('what the kernel and the log say of the workers is in points.csv, and empty where nobody looked', (t) => {
  const [known] = samplePoint().diagnostics
  const log = { queuedRecords: 40, lagMicros: 250_000, droppedRecords: 3 }
  const use = { cpuMicros: 9_000_000, voluntarySwitches: 70, involuntarySwitches: 8, log }
  const throttling = { periods: 600, throttledPeriods: 2 }
  const point = samplePoint({
    diagnostics: [
      { ...known!, ...use },
      { ...known!, worker: 1, ...use, log: { ...log, lagMicros: 300_000 } },
    ],
    perRepetition: [{ p50Micros: 1, p99Micros: 2, rssBytes: 3, throttling }],
    upstreamWaits: 12,
  })
  const [head, row, old] = csvRows(written(t, sampleSummary([point, samplePoint()]), 'points.csv'))
  const names = ['worker_cpu', 'voluntary_switches', 'involuntary_switches', 'gc', 'log_queue', 'log_lag']
  const all = [...names, 'log_drops', 'throttled_periods', 'upstream_waits']
  const first = head!.indexOf(all[0]!)
  assert.deepEqual(head!.slice(first, first + all.length), all)
  assert.deepEqual(row!.slice(first, first + all.length), [
    '18000000',
    '140',
    '16',
    '480000',
    '80',
    '300000',
    '6',
    '2',
    '12',
  ])
  assert.deepEqual(old!.slice(first, first + all.length), ['', '', '', '240000', '', '', '', '', ''])
})

test('junit.xml has a case a point, and a failure with the reasons for each that is no result', (t) => {
  const points = [samplePoint(), samplePoint({ title: '<&">', invalid: ['a < b', 'errors'] })]
  const tree = markupTree(written(t, sampleSummary(points), 'junit.xml'))
  assert.equal(tree.attributes.failures, '1')
  assert.equal(elementsOf(tree, 'testcase').length, 2)
  assert.deepEqual(elementsOf(tree, 'failure').map(textOf), ['a < b; errors'])
})

test('report.md keeps its tables whole whatever the titles hold', (t) => {
  const points = [
    samplePoint({ title: 'a | b\n<b>' }),
    samplePoint({ contestant: 'nginx', title: 'a | b\n<b>' }),
  ]
  const lines = written(t, sampleSummary(points), 'report.md').split('\n')
  const row = lines.find((line) => line.includes('a \\| b &lt;b&gt;'))!
  assert.equal(
    row.split(/(?<!\\)\|/).length,
    lines.find((line) => line.startsWith('| scenario'))!.split('|').length,
  )
  assert.ok(lines.includes('## CPU time of a request side by side'))
})

test('a figure of nothing is written and read again', (t) => {
  const nothing = spreadOf([Number.NaN])
  const point = samplePoint({ cpuMicrosPerRequest: nothing, busyShare: Number.NaN, invalid: ['no request'] })
  const dir = folder(t)
  const summary = sampleSummary([point])
  writeResults(summary, dir)
  assert.deepEqual(readSummary(join(dir, 'summary.json')), summary)
})

function refusal(t: TestContext, content: string): RegExp | string {
  const file = join(folder(t), 'summary.json')
  writeFileSync(file, content)
  try {
    readSummary(file)
  } catch (error) {
    return (error as Error).message.replace(file, 'FILE')
  }
  return 'accepted'
}

test('what is no summary is refused with the reason', (t) => {
  const good = sampleSummary([samplePoint()])
  const text = (changes: object): string => JSON.stringify({ ...good, ...changes })
  const point = (changes: object): string =>
    text({ points: [good.points[0], { ...good.points[0], ...changes }] })
  assert.match(String(refusal(t, '{')), /^FILE is no JSON/)
  assert.match(String(refusal(t, '[]')), /does not hold an object/)
  assert.match(String(refusal(t, '{}')), /has no schemaVersion/)
  assert.match(
    String(refusal(t, text({ schemaVersion: 2 }))),
    /has schemaVersion 2, this version of gw reads 1/,
  )
  assert.match(String(refusal(t, text({ points: {} }))), /points must be a list/)
  assert.match(String(refusal(t, text({ host: null }))), /host must be an object/)
  assert.match(
    String(refusal(t, point({ kind: 'odd' }))),
    /points\[1\]\.kind must be one of saturation, fixed-rate/,
  )
  assert.match(
    String(refusal(t, point({ latency: { count: 1 } }))),
    /points\[1\]\.latency\.isCorrected must be true or false/,
  )
  const settings = { governor: null, turbo: 'on', siblings: [], openFiles: null, transparentHugePages: null }
  assert.match(
    String(refusal(t, text({ host: { ...good.host, settings } }))),
    /host\.settings\.turbo must be true or false/,
  )
  assert.match(
    String(refusal(t, text({ host: { ...good.host, documents: { a: 'b' } } }))),
    /host\.documents\.a must be an object/,
  )
  assert.match(String(refusal(t, point({ rssBytes: null }))), /points\[1\]\.rssBytes must be a number/)
  assert.equal(refusal(t, text({})), 'accepted')
  assert.throws(
    () => readSummary(join(folder(t), 'none.json')),
    /there is no run of gw bench: .*none\.json does not exist/,
  )
})

const SOAK: SoakFigures = {
  ...{ reloads: 5, failedReloads: 0, samples: 18, spanSeconds: 42 },
  heap: { bytes: 24e6, bytesPerHour: -3 * 1024 ** 2, bytesPerHourError: 1024 ** 2 },
  rssBytes: [100 * 1024 ** 2, 101 * 1024 ** 2],
  files: [200, 204],
}
const LOG = { documents: 41_990, dead: 0, dropped: 10, repeated: 0, missing: 0 }

/** One trial that was passed, one that was not, and one that is no result. */
function trialsSummary(): Summary {
  const failed = sampleTrial({
    ...{ id: 'elasticsearch-down', title: 'Elasticsearch down', log: LOG, deliveredSeconds: 3 },
    ...{ recoveredSeconds: null, failures: ['10 records are lost'], newWorkers: 0 },
  })
  const none = sampleTrial({ id: 'dns-change', title: 'DNS change', invalid: ['it was stopped'] })
  return sampleSummary([], { suite: 'chaos', trials: [sampleTrial({ soak: SOAK }), failed, none] })
}

test('trials are written in every form for people, and read again', (t) => {
  const dir = folder(t)
  const summary = trialsSummary()
  writeResults(summary, dir)
  assert.deepEqual(readSummary(join(dir, 'summary.json')), summary)
  const markdown = readFileSync(join(dir, 'report.md'), 'utf8')
  assert.match(markdown, /^1 of 3 trials are passed, 1 is no result\.$/m)
  assert.match(markdown, /\n## Trials\n\n\| trial \| load\/s \| requests \|/)
  const passed =
    /^\| worker killed \| 600 \| 42,000 \| 0 \| 0 \| 0 \| 0 \| – \| 2\.1 ms \| 9\.3 ms \| 2 ms \| 0\.0 s \| passed \|$/m
  assert.match(markdown, passed)
  assert.match(
    markdown,
    /^\| Elasticsearch down .* \| 10 \| .* \| not seen \| FAILED: 10 records are lost \|$/m,
  )
  assert.match(markdown, /^\| DNS change .* \| no result: it was stopped \|$/m)
  assert.match(
    markdown,
    /^\* worker killed: one of two .*, 30\.0 s to 50\.0 s after the load began; 128 conn/m,
  )
  assert.match(
    markdown,
    /; heap −3\.0 MB an hour \(± 1\.0\) over 42 s; memory 100 MB to 101 MB; open files 200 to/,
  )
  assert.match(
    markdown,
    /41,990 documents, 10 dropped, 0 dead letters, 0 repeated, all delivered 3\.0 s after/,
  )
  assert.doesNotMatch(markdown, /points are results/)
})

test('a trial is a test case of junit.xml: one that was not passed has failed, one that is no result is an error', (t) => {
  const tree = markupTree(written(t, trialsSummary(), 'junit.xml').replace(/^<\?.*\?>\n/, ''))
  const suite = elementsOf(tree, 'testsuite')[0]!
  assert.deepEqual([suite.attributes['tests'], suite.attributes['failures']], ['3', '1'])
  assert.equal(suite.attributes['errors'], '1')
  const cases = elementsOf(tree, 'testcase')
  assert.deepEqual(
    cases.map(({ attributes }) => attributes['classname']),
    ['chaos.worker-kill', 'chaos.elasticsearch-down', 'chaos.dns-change'],
  )
  const failures = elementsOf(tree, 'failure')
  assert.deepEqual(failures.map(textOf), ['10 records are lost'])
  assert.deepEqual(elementsOf(tree, 'error').map(textOf), ['it was stopped'])
})

test('what is no trial is refused with its place', (t) => {
  const [good] = trialsSummary().trials!
  const text = (changes: object): string =>
    JSON.stringify({ ...trialsSummary(), trials: [{ ...good, ...changes }] })
  assert.match(String(refusal(t, text({ requests: '1' }))), /trials\[0\]\.requests must be a number/)
  assert.match(String(refusal(t, text({ log: {} }))), /trials\[0\]\.log\.documents must be a number/)
  assert.equal(refusal(t, text({})), 'accepted')
})
