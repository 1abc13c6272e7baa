import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { coreTimes, cpuMicros, isRunning, processTree } from './process-use.js'

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

test('a process that has ended does not run, though its parent has not asked for its status', (t) => {
  const child = spawn('sleep', ['60'])
  t.after(() => child.kill('SIGKILL'))
  assert.ok(isRunning(child.pid!))
  child.kill('SIGKILL')
  const giveUpMono = performance.now() + 20_000
  // Nobody asks meanwhile: that would be for the event loop to do.
  while (!readFileSync(`/proc/${child.pid}/stat`, 'utf8').includes(') Z '))
    assert.ok(performance.now() < giveUpMono, 'it must end')
  assert.equal(isRunning(child.pid!), false)
})

test('a process that is gone has used no time', () => {
  assert.equal(cpuMicros(2 ** 30), 0)
})

test('the times of cores never fall, and a core that is not there has none', () => {
  const before = coreTimes(['0'])
  const after = coreTimes(['0'])
  assert.ok(before.busyMicros > 0 && after.busyMicros >= before.busyMicros)
  assert.ok(after.stolenMicros >= before.stolenMicros)
  assert.equal(coreTimes(['99999']).busyMicros, 0)
})
