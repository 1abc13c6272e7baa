import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupLimits } from './control-group.js'
import { allowedCpus, coreLayout, keepOffContestant } from './cores.js'
import { doctor, hostFacts } from './host.js'
import { machineSettings } from './machine-settings.js'
import { seededRandom, shuffled } from './shuffle.js'

test('the contestant gets the first cores and everything else the others', () => {
  const layout = coreLayout(2, true, ['0', '1', '2', '5'])
  assert.equal(layout.contestant, '0,1')
  assert.equal(layout.load, '2,5')
  assert.deepEqual([layout.contestantCores, layout.loadCores, layout.isShared], [2, 2, false])
})

test('where cores do not suffice all share them and the layout says so', () => {
  const layout = coreLayout(4, true, ['0', '1'])
  assert.deepEqual([layout.contestant, layout.load, layout.isShared], ['0,1', '0,1', true])
  assert.equal(layout.contestantCores, 2)
})

test('without pinning nobody is told where to run', () => {
  const layout = coreLayout(1, false, ['0', '1'])
  assert.deepEqual([layout.contestant, layout.load, layout.isShared], [null, null, false])
  assert.deepEqual(layout.contestantCpus, [])
})

test('this process leaves the cores of the contestant and comes back', (t) => {
  const before = allowedCpus()
  if (before.length < 2) return t.skip('one core cannot be left')
  const comeBack = keepOffContestant(coreLayout(1, true))
  assert.deepEqual(allowedCpus(), before.slice(1))
  comeBack()
  assert.deepEqual(allowedCpus(), before)
})

test('the facts of a machine are those that a reader needs to compare it', async () => {
  const host = await hostFacts()
  assert.ok(host.cpus >= 1 && host.memoryBytes > 0 && host.cpuScore > 0)
  assert.ok(host.foreignShare >= 0 && host.foreignShare <= 1)
  assert.ok(host.stolenShare >= 0 && host.stolenShare <= 1)
  assert.equal(host.node, process.version)
  for (const name of ['sluice', 'uWebSockets.js', 'undici'])
    assert.match(host.versions[name] ?? '', /^\d+\.\d+/)
  assert.equal(host.v8, process.versions.v8)
  assert.ok(host.source === null || /^[0-9a-f]{40,}$/.test(host.source!.commit))
  assert.deepEqual([host.settings, host.limits], [machineSettings(), groupLimits()])
})

test('the doctor looks at everything and has a remedy for whatever is not well', () => {
  const findings = doctor()
  const subjects = findings.map(({ subject }) => subject)
  for (const subject of [
    'quiet machine',
    'cores',
    'governor',
    'turbo',
    'SMT',
    'open files',
    'huge pages',
    'CPU quota',
    'memory limit',
    'memory of tiers',
    'somaxconn',
    'wrk',
    'nginx',
  ])
    assert.ok(subjects.includes(subject), `${subject} is missing`)
  for (const { subject, level, remedy } of findings) assert.equal(remedy === null, level === 'ok', subject)
})

test('an order is random and the same for the same seed', () => {
  const list = Array.from({ length: 20 }, (_, i) => i)
  const order = shuffled(list, seededRandom('a'))
  assert.deepEqual(shuffled(list, seededRandom('a')), order)
  assert.notDeepEqual(shuffled(list, seededRandom('b')), order)
  assert.notDeepEqual(order, list)
  assert.deepEqual(
    order.toSorted((a, b) => a - b),
    list,
  )
})
