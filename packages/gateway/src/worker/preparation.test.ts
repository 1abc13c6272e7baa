import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfigBundle } from '@sluice/config'
import { EMPTY_LOG } from '@sluice/core'
import { fakeBundle } from '../supervise/testing/fake-plan.js'
import type { DataPlane } from './data-plane.js'
import { Preparation } from './preparation.js'

/** A data plane that records its calls; `gate` delays every prepare. */
function fakePlane(journal: string[], gate: Promise<void> = Promise.resolve()): DataPlane {
  return {
    digest: 'abc',
    inFlight: 0,
    connections: 0,
    stateProblem: null,
    responses: { purge: () => 0, find: () => [], takeChanged: () => [], invalidate: () => {} },
    async prepare(bundle: ConfigBundle) {
      await gate
      if (bundle.plan.routes.length === 0) throw new Error('no routes')
      journal.push('prepare')
      return { activate: async () => void journal.push('activate'), discard: () => journal.push('discard') }
    },
    setReady: () => {},
    onLoopCheck: () => {},
    setTargets: () => {},
    setStepTraces: () => [],
    samples: () => [],
    logIdentity: () => EMPTY_LOG,
    drain: async () => 0,
    cut: () => {},
  }
}

test('a bundle is prepared, then activated once', async () => {
  const journal: string[] = []
  const preparation = new Preparation(fakePlane(journal))
  assert.deepEqual(await preparation.prepare(1, 7, fakeBundle()), { kind: 'prepared', id: 1 })
  assert.deepEqual(await preparation.activate(2, 7), { kind: 'activated', id: 2, digest: 'abc' })
  const again = await preparation.activate(3, 7)
  assert.deepEqual(again, { kind: 'failed', id: 3, reason: 'epoch 7 is not prepared' })
  assert.deepEqual(journal, ['prepare', 'activate'])
})

test('a failed prepare reports its reason and can still be discarded', async () => {
  const journal: string[] = []
  const preparation = new Preparation(fakePlane(journal))
  const failed = await preparation.prepare(1, 7, fakeBundle({ routes: [] }))
  assert.deepEqual(failed, { kind: 'failed', id: 1, reason: 'no routes' })
  assert.deepEqual(await preparation.discard(2, 7), { kind: 'discarded', id: 2 })
  assert.deepEqual(journal, [])
})

test('a discard that overtakes a slow prepare discards what it prepared', async () => {
  const journal: string[] = []
  let open: () => void = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const preparation = new Preparation(fakePlane(journal, gate))
  const prepared = preparation.prepare(1, 7, fakeBundle())
  const discarded = preparation.discard(2, 7)
  open()
  await Promise.all([prepared, discarded])
  assert.deepEqual(journal, ['prepare', 'discard'])
})

test('a new prepare discards a previous one', async () => {
  const journal: string[] = []
  const preparation = new Preparation(fakePlane(journal))
  await preparation.prepare(1, 7, fakeBundle())
  await preparation.prepare(2, 8, fakeBundle())
  assert.equal((await preparation.activate(3, 7)).kind, 'failed')
  assert.equal((await preparation.activate(4, 8)).kind, 'activated')
  assert.deepEqual(journal, ['prepare', 'discard', 'prepare', 'activate'])
})
