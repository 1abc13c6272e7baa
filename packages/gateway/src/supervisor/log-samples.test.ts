import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_LOG } from '@sluice/core'
import { logSamples } from './log-samples.js'

test('metrics of a log with several targets name the target, and the others name none', () => {
  const counts = { ...EMPTY_LOG, received: 3, indexed: 2, dropped: 1, droppedBy: { too_large: 1 } }
  assert.ok(logSamples(counts).every(({ labels }) => !labels.includes('target')))
  const samples = logSamples({ ...counts, targets: { main: counts, siem: EMPTY_LOG } })
  const lost = samples.filter(({ name }) => name === 'gw_log_dropped_total')
  assert.deepEqual(
    lost.map(({ labels, value }) => [labels, value]),
    [
      ['target="main",reason="queue_full"', 0],
      ['target="main",reason="too_large"', 1],
      ['target="siem",reason="queue_full"', 0],
    ],
  )
})
