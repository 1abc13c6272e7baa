import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_LOG, type LogIdentity } from '@sluice/core'
import { logSamples } from './log-samples.js'

test('metrics of a log name the target, and keep their names when a target is added', () => {
  const counts = { ...EMPTY_LOG, received: 3, indexed: 2, dropped: 1, droppedBy: { too_large: 1 } }
  const names = (log: LogIdentity): string[] =>
    logSamples(log).map(({ name, labels }) => `${name}{${labels}}`)
  const withSecond = names({ ...counts, targets: { main: counts, siem: EMPTY_LOG } })
  assert.deepEqual(
    names(counts),
    withSecond.filter((name) => name.includes('target="main"')),
  )
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

test('each count has its own metric', () => {
  const counts = { received: 31, indexed: 1, dead: 2, deadRemoved: 3, dropped: 4, onDisk: 8, inMemory: 16 }
  const samples = logSamples({ ...EMPTY_LOG, ...counts, droppedBy: { queue_full: 4 }, lagMs: 500 })
  assert.deepEqual(Object.fromEntries(samples.map(({ name, value }) => [name, value])), {
    gw_log_received_total: 31,
    gw_log_indexed_total: 1,
    gw_log_dead_total: 2,
    gw_log_dead_removed_total: 3,
    gw_log_dropped_total: 4,
    gw_log_on_disk: 8,
    gw_log_in_memory: 16,
    gw_log_lag_seconds: 0.5,
  })
})
