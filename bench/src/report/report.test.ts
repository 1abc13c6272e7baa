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
import { reportHtml } from './page.js'
import { pointsCsv } from './points-csv.js'
import { readSummary, writeResults } from './results.js'
import { comparisonTable, highestRates, pointTable, referenceTable, trialTable } from './tables.js'

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
  vm.runInNewContext(drawing!, { Chart, document: { getElementById: (id: string) => id } })
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
  const invalid = samplePoint({ invalid: ['not gateway-bound'] })
  assert.match(JSON.stringify(pointTable([invalid])), /no result|not gateway-bound/)
  const failed = sampleTrial({ failures: ['3 records are lost'] })
  assert.match(JSON.stringify(trialTable([failed])), /3 records are lost/)
  assert.equal(trialTable([]), null)
})

test('figures of published reports stand beside those of a suite that reproduces them', () => {
  const summary = JSON.parse(
    readFileSync(new URL('../../results/2026-11-23-apinizer/summary.json', import.meta.url), 'utf8'),
  )
  assert.ok(referenceTable(summary)!.rows.length > 5)
  assert.equal(referenceTable(sampleSummary([samplePoint({ suite: 'smoke' })], { suite: 'smoke' })), null)
})
