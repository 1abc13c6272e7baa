import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spreadOf, UNKNOWN } from '../../measure/spread.js'
import type { Point } from '../../model/summary.js'
import { elementsOf, markupTree, textOf } from '../../testing/markup-tree.js'
import { samplePoint, sampleSpectrum, sampleSummary } from '../../testing/sample-summary.js'
import { reportHtml } from './page.js'

/** Name and content of the tiles at the top of a report. */
function tilesOf(points: readonly Point[]): string[][] {
  const [list] = elementsOf(markupTree(reportHtml(sampleSummary(points))), 'dl').filter(
    ({ attributes }) => attributes['class'] === 'glance',
  )
  const names = elementsOf(list!, 'dt').map(textOf)
  return elementsOf(list!, 'dd').map((cell, i) => [names[i]!, textOf(cell)])
}

/** Points of a server that somebody else has started: its cores are not known, nor what it uses. */
function ofTarget(changes: Partial<Point> = {}): Point {
  return samplePoint({
    ...{ contestant: 'target', title: 'GET /a', connections: 64, perSecond: spreadOf([12_000]) },
    ...{ cpuMicrosPerRequest: UNKNOWN, busyShare: Number.NaN, rssBytes: 0, diagnostics: [] },
    ...changes,
  })
}

const HELD = { kind: 'fixed-rate', targetPerSecond: 9600, latency: sampleSpectrum(1000) } as const

test('a target has the tiles of all that is known of it', () => {
  const knee = { ...HELD, targetPerSecond: 10_500, sloMicros: 50_000 }
  assert.deepEqual(tilesOf([ofTarget(), ofTarget(HELD), ofTarget(knee)]), [
    ['Highest rate with P99 < 50 ms', '10,500/sGET /a, 64 connections, P99 3.89 ms'],
    ['Highest throughput', '12,000/sGET /a, 64 connections'],
    ['P99 at 9,600/s', '3.89 msGET /a, 64 connections, the highest rate held'],
    ['Points', '3 of 3every point is a result'],
  ])
})

test('a target whose process is known has a tile of its CPU time, and one that was no result has none', () => {
  const known = ofTarget({ cpuMicrosPerRequest: spreadOf([31]) })
  const invalid = ofTarget({ perSecond: spreadOf([99_999]), invalid: ['errors'] })
  assert.deepEqual(tilesOf([known, invalid]), [
    ['Highest throughput', '12,000/sGET /a, 64 connections'],
    ['Least CPU a request', '31 µsGET /a, 64 connections'],
    ['Points', '1 of 2invalid: 1, see below'],
  ])
})

test('beside a target or our gateway a peer has no tile of its own', () => {
  const nginx = samplePoint({ contestant: 'nginx', perSecond: spreadOf([50_000]), title: 'peer' })
  for (const subject of [ofTarget(), samplePoint()])
    assert.deepEqual(
      tilesOf([nginx, subject]).filter(([, text]) => text!.includes('peer')),
      [],
    )
})
