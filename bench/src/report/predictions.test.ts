import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spreadOf } from '../measure/point.js'
import type { Point } from '../model/summary.js'
import { samplePoint, sampleSummary } from '../testing/samples.js'
import { chartsOf } from './charts.js'
import { reportHtml } from './page.js'
import { predictionsOf, predictionTable } from './predictions.js'

interface Look {
  readonly label: string
  readonly borderColor: string
  readonly borderDash: readonly number[]
}

function tierPoint(tier: 'W1' | 'W2', costs: readonly number[], changes: Partial<Point> = {}): Point {
  return samplePoint({
    ...{ tier, workers: tier === 'W1' ? 1 : 2, scenario: `${tier.toLowerCase()}-get`, title: `${tier} GET` },
    ...{ connections: 250, cpuMicrosPerRequest: spreadOf(costs), kernelShare: 0.6 },
    ...changes,
  })
}

const W1 = tierPoint('W1', [40, 41, 40])
const W2 = tierPoint('W2', [42, 43, 42])

test('predictions are in a table of their own, with interval, assumed parameter and kernel share', () => {
  const { name, headings, rows, remark } = predictionTable(predictionsOf([W1, W2]))!
  assert.equal(name, 'Predictions')
  assert.equal(headings[2], 'predicted requests/s')
  assert.deepEqual(
    rows.map((row) => row.slice(0, 2)),
    [
      ['GET, 250 conn.', 'W4'],
      ['GET, 250 conn.', 'W8'],
    ],
  )
  assert.match(rows[0]![2]!, /^[\d,]+ \([\d,]+–[\d,]+\)$/)
  assert.match(rows[0]!.join(), /assumed/)
  assert.match(rows[0]!.join(), /W1 40\.3 µs, 60 % in the kernel; W2 42\.3 µs/)
  assert.match(remark, /^Not measured\./)
})

test('the page shows predictions apart from points, and their lines are dashed', () => {
  const page = reportHtml(sampleSummary([W1, W2]))
  assert.match(page, /<h2>Predictions<\/h2><p>Not measured\./)
  const points = /<h2>All points<\/h2>.*?<\/table>/s.exec(page)![0]
  assert.doesNotMatch(points, /W4|W8|predicted/)
  const chart = chartsOf([W1, W2]).find(({ title }) => title === 'Scaling over tiers')!
  const { datasets } = (chart.config as { data: { datasets: Look[] } }).data
  for (const { label, borderDash } of datasets)
    assert.equal(borderDash.length > 0, /predicted|ideal/.test(label), label)
  const colors = datasets.filter(({ label }) => label !== 'ideal').map(({ borderColor }) => borderColor)
  assert.equal(new Set(colors).size, 1, 'measured and predicted lines of a system have its colour')
  assert.equal(datasets.filter(({ label }) => label.includes('predicted')).length, 3)
})

test('nothing is predicted from unlike points', () => {
  const unlike: readonly (readonly Point[])[] = [
    [W1],
    [W2],
    [W1, tierPoint('W2', [42, 43, 42], { connections: 500 })],
    [W1, tierPoint('W2', [42, 43, 42], { sharesCores: true })],
    [W1, tierPoint('W2', [42, 43, 42], { busyShare: 0.6 })],
    [W1, tierPoint('W2', [42, 43, 42], { costInvalid: ['errors'] })],
    [W1, tierPoint('W2', [42, 43, 42], { kind: 'fixed-rate' })],
    [W1, tierPoint('W2', [42, 43, 42], { system: 'nginx' })],
    [W1, tierPoint('W2', [42, 43])],
  ]
  for (const points of unlike) assert.deepEqual(predictionsOf(points), [])
  assert.doesNotMatch(reportHtml(sampleSummary([W1])), /Predictions/)
})
