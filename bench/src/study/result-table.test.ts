import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resultTable } from './result-table.js'
import type { Round } from './round.js'

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
