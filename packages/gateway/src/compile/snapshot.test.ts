import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definePolicy, type Policy } from '@sluice/core'
import { FAKE_POLICIES } from '../testing/fake-policy.js'
import { startGateway } from '../testing/gateway.js'

/** Longer than one slice of compilation. */
const COSTLY_MS = 30

test('while routes with costly policies are compiled, the event loop turns between them', async (t) => {
  let turns = 0
  const turn = (): void => {
    turns++
    next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  t.after(() => clearImmediate(next))
  const turnsBefore: number[] = []
  const costly = definePolicy({
    ...{ name: 'p', summary: 'A test.', schema: {} as Policy['schema'] },
    compile() {
      turnsBefore.push(turns)
      const endMono = performance.now() + COSTLY_MS
      while (performance.now() < endMono);
      return null
    },
  })
  // Equal policies would share one step.
  const routes = Array.from({ length: 5 }, (_, i) => ({
    id: `r${i}`,
    policies: FAKE_POLICIES.map((use) => ({ ...use, with: { i } })),
  }))
  const upstreams = [{ urls: ['http://127.0.0.1:1'] }]
  await startGateway(t, { upstreams, routes }, { catalog: new Map([['p', costly]]) })
  assert.deepEqual(turnsBefore, [...new Set(turnsBefore)], 'each after another turn')
  assert.equal(turnsBefore.length, routes.length)
})
