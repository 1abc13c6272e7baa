import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { cpuMicros, processTree, stolenMicros } from './process-use.js'

test('the process time of a tree counts its children and grows while they work', async (t) => {
  const child = spawn(process.execPath, ['-e', 'console.log("up"); for (;;) Math.sqrt(2)'])
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  assert.ok(processTree(process.pid).includes(child.pid!))
  const before = cpuMicros(child.pid!)
  const giveUpMono = performance.now() + 20_000
  while (cpuMicros(child.pid!) < before + 50_000) {
    assert.ok(performance.now() < giveUpMono, 'a busy child must use process time')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
})

test('a process that is gone has used no time', () => {
  assert.equal(cpuMicros(2 ** 30), 0)
})

test('the time taken from a core never falls, and one that is not there has lost none', () => {
  const before = stolenMicros('0')
  assert.ok(before >= 0 && stolenMicros('0') >= before)
  assert.equal(stolenMicros('99999'), 0)
})
