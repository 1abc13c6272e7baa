import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import vm from 'node:vm'
import { scratch } from '@sluice/cli/testing'
import { spreadOf } from '../measure/point.js'
import type { Point } from '../model/summary.js'
import { samplePoint, sampleSpectrum, sampleSummary, sampleTrial } from '../testing/samples.js'
import { chartsOf } from './charts.js'
import { JtlRows, MOST_JTL_ROWS } from './jtl.js'
import { reportHtml } from './page.js'
import { pointsCsv } from './points-csv.js'
import { readSummary, writeResults } from './results.js'
import {
  comparisonTable,
  highestRates,
  pointTable,
  referenceTable,
  trialTable,
  workerTable,
} from './tables.js'

const NGINX = samplePoint({ system: 'nginx', cpuMicrosPerRequest: spreadOf([40, 41, 39]) })
const rate = (targetPerSecond: number, p50: number, changes: Partial<Point> = {}): Point =>
  samplePoint({ kind: 'fixed-rate', targetPerSecond, latency: sampleSpectrum(p50), ...changes })

test('a run is written in every form and read again as it was', (t) => {
  const summary = sampleSummary([samplePoint(), NGINX], { trials: [sampleTrial()] })
  const dir = scratch(t)
  const files = writeResults(summary, dir)
  assert.deepEqual(
    files,
    ['summary.json', 'points.csv', 'report.html'].map((name) => join(dir, name)),
  )
  assert.deepEqual(readSummary(files[0]!), summary)
})

test('what is no summary is refused with the place of the flaw', (t) => {
  const file = join(scratch(t), 'summary.json')
  const refused = (content: string, message: RegExp): void => {
    writeFileSync(file, content)
    assert.throws(() => readSummary(file), message)
  }
  const summary = sampleSummary([samplePoint()])
  refused('{', /cannot read the run/)
  refused('{}', /is not a summary of gw bench: it has no schemaVersion/)
  refused('{"schemaVersion":1}', /has schemaVersion 1, this version of gw reads 2/)
  const flawed = { ...summary, points: [{ ...summary.points[0], workers: 'two' }] }
  refused(JSON.stringify(flawed), /is not a valid summary: \/points\/0\/workers: expected number/)
})

test('runs that are kept in the repository can be read', () => {
  const kept = new URL('../../results/2026-11-22-policies/summary.json', import.meta.url)
  assert.ok(readSummary(kept.pathname).points.length > 20)
})

test('requests are written as JMeter reads them, and no more than fit', () => {
  const rows = new JtlRows()
  const load = { label: 'GET, 2 connections', url: 'http://127.0.0.1:80/?key=***', connections: 2 }
  const sample = { atMs: 1000.4, elapsedMs: 12.6, latencyMs: 3, outcome: 200, bytes: 250, sentBytes: 90 }
  rows.add(load, [
    { ...sample, atMs: 2000, outcome: 'timeout', bytes: 0, latencyMs: 0 },
    sample,
    { ...sample, atMs: 3000, outcome: 503 },
  ])
  const label = '"GET, 2 connections"'
  const rest = '2,2,http://127.0.0.1:80/?key=***'
  assert.deepEqual(rows.text().split('\n'), [
    'timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect',
    `1000,13,${label},200,OK,${label},text,true,,250,90,${rest},3,0,0`,
    `2000,13,${label},Non HTTP response code: timeout,timeout,${label},text,false,failed: timeout,0,90,${rest},0,0,0`,
    `3000,13,${label},503,503,${label},text,false,failed: 503,250,90,${rest},3,0,0`,
    '',
  ])
  rows.add(
    load,
    Array.from({ length: MOST_JTL_ROWS }, () => sample),
  )
  assert.equal(rows.text().split('\n').length, MOST_JTL_ROWS + 2)
})

/** What the scripts of a page give to Chart.js, in place of which something else stands. */
function drawnCharts(
  html: string,
): { readonly type: string; readonly data: { readonly datasets: object[] } }[] {
  const [library, drawing] = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text]) => text!)
  assert.match(library!, /Chart\.js v4/)
  const drawn: ReturnType<typeof drawnCharts> = []
  class Chart {
    static readonly defaults = {}
    constructor(_canvas: unknown, config: (typeof drawn)[number]) {
      drawn.push(config)
    }
  }
  const style = { color: '#000', getPropertyValue: () => '#ddd' }
  vm.runInNewContext(drawing!, {
    ...{ Chart, document: { getElementById: (id: string) => id }, getComputedStyle: () => style },
    matchMedia: () => ({ addEventListener() {} }),
  })
  return drawn
}

test('the page carries its charts and their library, and asks the network for nothing', () => {
  const points = [samplePoint(), NGINX, rate(1000, 500), rate(2000, 900)]
  const html = reportHtml(sampleSummary(points))
  assert.doesNotMatch(html.replaceAll(/<script>[\s\S]*?<\/script>/g, ''), /src=|href=|url\(/)
  const charts = drawnCharts(html)
  assert.equal(charts.length, chartsOf(points).length)
  assert.equal(html.match(/<canvas /g)?.length, charts.length)
  assert.ok(charts.every(({ data }) => data.datasets.length > 0))
  assert.match(html, /<h2>Machine and method<\/h2>/)
})

test('what a run says cannot end a script nor begin an element', () => {
  const title = '</script><img onerror=alert(1)>'
  const html = reportHtml(sampleSummary([samplePoint({ title })], { warnings: [title] }))
  assert.doesNotMatch(html, /<img/)
  assert.equal(drawnCharts(html).length, chartsOf([samplePoint()]).length)
})

test('charts show rates, tiers, logs and policies, and nothing that is no result', () => {
  const titles = (points: readonly Point[]): string[] => chartsOf(points).map(({ title }) => title)
  assert.deepEqual(titles([samplePoint({ invalid: ['x'], costInvalid: ['x'] })]), [])
  assert.deepEqual(titles([]), [])
  const w2 = { scenario: 'w2-get', title: 'W2 GET', tier: 'W2', workers: 2 } as const
  assert.ok(titles([samplePoint(), samplePoint(w2)]).includes('Scaling over tiers'))
  const logged = samplePoint({ scenario: 'w1-get-elasticsearch', log: 'elasticsearch' })
  assert.ok(titles([samplePoint(), logged]).includes('Traffic log off and on'))
  const pair = [samplePoint({ scenario: 'base-get' }), samplePoint({ scenario: 'header-get' })]
  assert.ok(titles(pair.map((point) => ({ ...point, suite: 'policies' }))).includes('What a policy costs'))
  assert.ok(titles([rate(1000, 500)]).some((title) => /latency against rate$/.test(title)))
})

test('points.csv has a row a point, and quotes what needs it', () => {
  const strange = samplePoint({
    title: 'a "b", c',
    cpuMicrosPerRequest: null,
    busyShare: null,
    rssBytes: null,
  })
  const [head, first, second, ...rest] = pointsCsv(sampleSummary([strange, NGINX])).split('\r\n')
  assert.match(head!, /^suite,scenario,title,system,kind,tier,cpus,es,method,body,conns,/)
  assert.match(first!, /^apinizer,w1-get,"a ""b"", c",sluice,saturation,W1,1,off,GET,0,100,,20033/)
  assert.match(second!, /,nginx,/)
  assert.deepEqual(rest, [''])
})

test('systems stand side by side with the ratio of their CPU time', () => {
  const table = comparisonTable([samplePoint(), NGINX])!
  assert.ok(
    table.rows.some((row) => row.some((cell) => /1\.15/.test(cell))),
    JSON.stringify(table.rows),
  )
  assert.equal(comparisonTable([samplePoint()]), null)
})

test('the highest of the held rates within a limit is named', () => {
  const points = [rate(1000, 500), rate(2000, 900), rate(3000, 90_000), rate(4000, 100, { invalid: ['x'] })]
  const table = highestRates([samplePoint(), ...points], 50_000)!
  assert.match(JSON.stringify(table.rows), /2,000/)
  assert.doesNotMatch(JSON.stringify(table.rows), /3,000|4,000/)
})

test('points that are no result, and trials, are reported with their reasons', () => {
  const table = pointTable([samplePoint({ invalid: ['3 requests failed'] })])
  assert.match(JSON.stringify(table), /INVALID except CPU: 3 requests failed/)
  assert.doesNotMatch(JSON.stringify(table.rows), /20,\d{3}/)
  assert.deepEqual(table.legend, [])
  const failed = sampleTrial({ failures: ['3 records are lost'] })
  assert.match(JSON.stringify(trialTable([failed])), /3 records are lost/)
  assert.equal(trialTable([]), null)
})

test('points with warnings have figures with a mark, the measured noise, and a legend', () => {
  const warnings = ["other programs used 12 % of the system's cores"]
  const noisy = samplePoint({ warnings, costInvalid: warnings })
  const { headings, rows, legend } = pointTable([noisy])
  const cell = (heading: string): string => rows[0]![headings.indexOf(heading)]!
  assert.equal(cell('requests/s'), '~20,033')
  assert.equal(cell('P99'), '~(17.5 ms)')
  assert.equal(cell('CPU µs'), '~46')
  assert.equal(cell('result'), `~ ${warnings[0]}`)
  assert.match(legend!.join(), /^~ marks a figure/)
  const side = comparisonTable([noisy, NGINX])!
  assert.match(JSON.stringify(side.rows), /"~46","40","~1\.15 \(/)
  assert.ok(chartsOf([noisy, NGINX]).some(({ title }) => title === 'Throughput'))
  assert.match(reportHtml(sampleSummary([noisy])), /Highest throughput<\/dt><dd>~20,033/)
})

test('the workers are shown with garbage collections and memory, and unknown values as such', () => {
  const [worker] = samplePoint().diagnostics
  const known = { gcLongestMicros: 9000, fullGcCount: 2, heapAfterGcBytes: 2 ** 24, rssAfterGcBytes: 2 ** 26 }
  const table = workerTable([samplePoint(), samplePoint({ diagnostics: [{ ...worker!, ...known }] }), NGINX])!
  // 0.24 s of 1,200,000 requests at 20,033 a second.
  const same = ['W1 GET', '100', 'saturation', '0.40 %', '120']
  assert.deepEqual(table.rows[0], [...same, '–', '2 ms', '–', '–', '–', '–'])
  assert.deepEqual(table.rows[1], [...same, '2', '2 ms', '9 ms', '16 MB', '64 MB', '–'])
  assert.equal(workerTable([{ ...NGINX, diagnostics: [] }]), null)
})

test('figures of published reports stand beside those of a suite that reproduces them', () => {
  const summary = JSON.parse(
    readFileSync(new URL('../../results/2026-11-23-apinizer/summary.json', import.meta.url), 'utf8'),
  )
  assert.ok(referenceTable(summary)!.rows.length > 5)
  assert.equal(referenceTable(sampleSummary([samplePoint({ suite: 'smoke' })], { suite: 'smoke' })), null)
})
