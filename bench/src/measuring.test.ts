import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { cpuMicros, processTree, stolenMicros } from './process-cpu.js'
import { resultTable } from './report.js'
import type { Round } from './round.js'
import { median, quantile } from './statistics.js'

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

test('quantiles are taken by rank, whatever the order of the values', () => {
  assert.equal(median([9, 1, 5]), 5)
  assert.equal(quantile([4, 3, 2, 1], 0.25), 2)
  assert.ok(Number.isNaN(median([])))
})

test('a scenario with a wrong answer has no figures in the table', () => {
  const good: Round = {
    requests: 100,
    perSecond: 50,
    cpuMicrosPerRequest: 20,
    supervisorMicrosPerRequest: 1,
    busyShare: 1,
    invalid: null,
  }
  const lines = [
    { scenario: 'GET', contestant: 'nginx', rounds: [good] },
    { scenario: 'GET', contestant: 'sluice', rounds: [{ ...good, cpuMicrosPerRequest: 30 }] },
    { scenario: 'POST', contestant: 'nginx', rounds: [good] },
    { scenario: 'POST', contestant: 'sluice', rounds: [{ ...good, invalid: 'Non-2xx or 3xx responses: 1' }] },
  ]
  const [, , get, post] = resultTable(lines).split('\n')
  assert.equal(get, '| GET | 20.0 (20.0-20.0) | 30.0 (30.0-30.0) | 1.50 | 1.00 | 50 | 100 % |')
  assert.match(post!, /^\| POST \| invalid: Non-2xx/)
})
