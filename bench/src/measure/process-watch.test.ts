import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { ProcessWatch } from './process-watch.js'

/** Works on a thread of its own, and waits on the first. */
const WORKER = `const { Worker } = require('node:worker_threads')
  new Worker('for (;;) { Math.sqrt(2) }', { eval: true }).once('online', () => {
    setInterval(() => {}, 2)
    console.log('up')
  })`

test('a process is followed with all of its threads, and what was seen last stands when it is gone', async (t) => {
  const child = spawn(process.execPath, ['-e', WORKER])
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const watch = new ProcessWatch(child.pid!)
  assert.deepEqual(watch.use, {
    ...{ rssBytes: 0, openSockets: 0, cpuMicros: 0, voluntarySwitches: 0, involuntarySwitches: 0 },
  })
  const giveUpMono = performance.now() + 30_000
  // The second thread works, the first waits.
  while (watch.use.cpuMicros! < 100_000 || watch.use.voluntarySwitches! < 20) {
    assert.ok(performance.now() < giveUpMono, 'a process that works and waits must be seen to')
    await new Promise((resolve) => setTimeout(resolve, 20))
    watch.look()
  }
  const { rssBytes, cpuMicros, voluntarySwitches } = watch.use
  assert.ok(rssBytes > 1_000_000)
  child.kill('SIGKILL')
  await once(child, 'close')
  watch.look()
  assert.ok(watch.use.cpuMicros! >= cpuMicros!)
  assert.equal(watch.use.voluntarySwitches, voluntarySwitches)
  assert.equal(watch.use.rssBytes, rssBytes)
})
