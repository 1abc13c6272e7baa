import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isolatedVmSkip, nodeWithIsolatedVm } from './testing/other-node.js'

test('the tests of isolated-vm pass on a Node.js that has it', { skip: isolatedVmSkip }, () => {
  const { node, env } = nodeWithIsolatedVm()
  const file = fileURLToPath(new URL('./isolated-vm.test.js', import.meta.url))
  const { status, stdout, stderr } = spawnSync(
    node,
    ['--no-node-snapshot', '--test-reporter=tap', file],
    // With this variable it would join this test run, whose reporter it does not have.
    { env: { ...process.env, ...env, NODE_TEST_CONTEXT: undefined }, encoding: 'utf8' },
  )
  assert.equal(status, 0, stdout + stderr)
  // All tests except the one for a gateway without the package.
  assert.match(stdout, /^# skipped 1$/m)
  assert.match(stdout, /^# pass [2-9]$/m)
})
