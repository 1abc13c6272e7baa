import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { scratch } from '@sluice/cli/testing'
import { assertAccessible, noBrowser, openPage } from '@sluice/cli/testing/browser'
import { spreadOf } from '../measure/point.js'
import type { Point } from '../model/summary.js'
import { samplePoint, sampleSpectrum, sampleSummary, sampleTrial } from '../testing/samples.js'
import { writeResults } from './results.js'

const LONG = 'the load generator was busy for 91 % of the time'

/** Points of two systems, with all kinds of charts. */
function points(): Point[] {
  return ['sluice', 'nginx'].flatMap((system, i) => [
    ...[100, 250, 1000].map((connections) =>
      samplePoint({
        system,
        connections,
        perSecond: spreadOf([17_000 + i * 3000 + connections]),
        warnings: [LONG],
      }),
    ),
    ...[1000, 2000, 7000].map((targetPerSecond) =>
      samplePoint({
        system,
        kind: 'fixed-rate',
        targetPerSecond,
        latency: sampleSpectrum(500 + targetPerSecond),
      }),
    ),
  ])
}

interface DrawnChart {
  readonly ticks: readonly { readonly value: number; readonly label: string; readonly type: string }[]
  readonly colors: readonly (readonly [system: string, color: string])[]
}

for (const colorScheme of ['light', 'dark'] as const)
  test(`the report is readable at 360 pixels in ${colorScheme} mode`, { skip: noBrowser }, async (t) => {
    const warnings = [`${LONG}; ${'x'.repeat(120)}`]
    const summary = sampleSummary(points(), { warnings, trials: [sampleTrial({ failures: ['lost'] })] })
    const dir = scratch(t)
    writeResults(summary, dir)
    const page = await openPage(t, pathToFileURL(join(dir, 'report.html')).href, { colorScheme, width: 360 })
    const width = await page.evaluate('document.documentElement.scrollWidth')
    assert.equal(width, 360)
    // The checker includes the contrast of all texts: at least 4.5.
    await assertAccessible(page)
    const background = (await page.evaluate('getComputedStyle(document.body).backgroundColor')) as string
    assert.equal(background === 'rgb(255, 255, 255)', colorScheme === 'light')
    const charts = (await page.evaluate(`Object.values(Chart.instances).map((chart) => ({
      ticks: Object.values(chart.scales).filter(({ type }) => type !== 'category')
        .flatMap(({ ticks, type }) => ticks.map(({ value, label }) => ({ value, label, type }))),
      colors: chart.data.datasets.map(({ system, borderColor }) => [system, borderColor]),
      text: Chart.defaults.color,
    }))`)) as DrawnChart[]
    assert.ok(charts.length >= 4, String(charts.length))
    const labels = charts.flatMap(({ ticks }) => ticks.map(({ label }) => label))
    assert.ok(
      labels.some((label) => /^\d{1,3},\d{3}$/.test(label)),
      labels.join(' '),
    )
    assert.ok(labels.some((label) => / ms$/.test(label)) && labels.some((label) => / µs$/.test(label)))
    assert.ok(
      labels.every((label) => /^(?:\d{1,3}(?:,\d{3})*|0)(?:\.\d+)?(?: ms| µs)?$/.test(label)),
      labels.join(' '),
    )
    for (const { value, type } of charts.flatMap(({ ticks }) => ticks))
      if (type === 'logarithmic') assert.match(value.toExponential(), /^[125]e/)
    const colors = new Map<string, Set<string>>()
    for (const [system, color] of charts.flatMap((chart) => chart.colors))
      colors.set(system, (colors.get(system) ?? new Set()).add(color))
    assert.deepEqual([...colors.keys()].toSorted(), ['nginx', 'sluice'])
    const used = [...colors.values()].flatMap((set) => [...set])
    assert.deepEqual([used.length, new Set(used).size], [2, 2])
  })
