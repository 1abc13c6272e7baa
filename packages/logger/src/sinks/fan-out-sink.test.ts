import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { EMPTY_LOG } from '@sluice/core'
import type { FieldSet } from '../record/record-env.js'
import { assertIdentity, sampleExchange, scratchDir, segmentLines } from '../testing.js'
import { FanOutSink, type Outlet } from './fan-out-sink.js'
import { openFileSink } from './file-sink.js'

const MIB = 1024 ** 2

function fileOutlet(
  root: string,
  id: string,
  wish: { readonly fields?: FieldSet; readonly wants?: Outlet['wants']; readonly queueBytes?: number },
): Outlet {
  const { fields = 'minimal', wants = null, queueBytes = MIB } = wish
  const sink = openFileSink({
    ...{ dir: join(root, id), maxBytes: 8 * MIB, segmentBytes: MIB, worker: 0, version: '1' },
    ...{ fields, queueBytes, configDigest: () => '' },
  })
  return { id, sink, wants }
}

test('each target gets the records that it wants, with as many fields as it wants', async () => {
  const root = scratchDir()
  const log = new FanOutSink([
    fileOutlet(root, 'all', {}),
    fileOutlet(root, 'errors', { fields: 'standard', wants: (x) => x.status >= 500 }),
  ])
  await log.opened
  for (const status of [200, 503, 404, 500]) {
    log.record(sampleExchange({ status }))
    assertIdentity(log.identity())
  }
  await log.close(5000)
  const statuses = (id: string) => segmentLines(join(root, id)).map((line) => JSON.parse(line).res.status)
  assert.deepEqual(statuses('all'), [200, 503, 404, 500])
  assert.deepEqual(statuses('errors'), [503, 500])
  assert.ok('gw' in JSON.parse(segmentLines(join(root, 'errors'))[0]!))
  const identity = log.identity()
  assertIdentity(identity)
  assert.deepEqual(identity, {
    ...{ ...EMPTY_LOG, received: 6, indexed: 6 },
    targets: {
      all: { ...EMPTY_LOG, received: 4, indexed: 4 },
      errors: { ...EMPTY_LOG, received: 2, indexed: 2 },
    },
  })
})

test('a full target loses only its own records', async () => {
  const root = scratchDir()
  const log = new FanOutSink([fileOutlet(root, 'narrow', { queueBytes: 1 }), fileOutlet(root, 'wide', {})])
  for (let i = 0; i < 50; i++) log.record(sampleExchange())
  await log.close(5000)
  const { targets, dropped, droppedBy } = log.identity()
  assertIdentity(log.identity())
  assert.equal(targets!['wide']!.indexed, 50)
  assert.equal(targets!['narrow']!.indexed + targets!['narrow']!.dropped, 50)
  assert.ok(targets!['narrow']!.dropped > 0)
  assert.deepEqual(droppedBy, { queue_full: dropped })
})
