import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attackScripts } from './testing/script-attacks.js'

// QuickJS runs the author's scripts; callers and upstreams write the texts that these read. What hangs or eats memory
// is in script/containment.test.ts.

test('QuickJS: no script reads what is planted, runs other code or reaches the network', async (t) => {
  assert.equal(await attackScripts(t, 'quickjs'), 0)
})
