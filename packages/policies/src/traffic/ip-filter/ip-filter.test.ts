import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange, Outcome } from '@sluice/core'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { ipFilter } from './policy.js'

type Config = Parameters<typeof ipFilter.compile>[0]

function verdict(config: Config, fields: Partial<Exchange>): Outcome {
  return run(config, exchange(fields))
}

function run(config: Config, x: Exchange): Outcome {
  const step = ipFilter.compile(config, testEnv())
  assert.ok(step !== null && !(step instanceof Promise))
  const outcome = step.onRequest?.(x) ?? null
  assert.ok(!(outcome instanceof Promise))
  return outcome
}

test('an allow list allows only its addresses', () => {
  const config = { allow: ['10.0.0.0/8', '2001:db8::/32'] }
  assert.equal(verdict(config, { clientIp: '10.1.2.3' }), null)
  assert.equal(verdict(config, { clientIp: '::ffff:10.1.2.3' }), null)
  assert.equal(verdict(config, { clientIp: '2001:db8::9' }), null)
  assert.equal(verdict(config, { clientIp: '11.1.2.3' })?.status, 403)
  assert.equal(verdict(config, { clientIp: '2001:db9::9' })?.status, 403)
})

test('a deny list keeps its addresses out and lets everybody else in', () => {
  const config = { deny: ['10.3.10.*', 'fe80::/10'] }
  assert.equal(verdict(config, { clientIp: '10.3.10.7' })?.status, 403)
  assert.equal(verdict(config, { clientIp: '::ffff:10.3.10.7' })?.status, 403)
  assert.equal(verdict(config, { clientIp: 'fe80::1%eth0' })?.status, 403)
  assert.equal(verdict(config, { clientIp: '10.3.11.7' }), null)
  assert.equal(verdict(config, { clientIp: '2001:db8::1' }), null)
})

test('deny wins over allow', () => {
  const config = { allow: ['10.0.0.0/8'], deny: ['10.3.10.4-18'] }
  assert.equal(verdict(config, { clientIp: '10.3.10.4' })?.status, 403)
  assert.equal(verdict(config, { clientIp: '10.3.10.3' }), null)
})

test('an invalid address is denied, even with only a deny list', () => {
  for (const clientIp of ['', 'unknown', '10.0.0.1, 10.0.0.2', '10.0.0.1:80']) {
    assert.equal(verdict({ deny: ['192.0.2.1'] }, { clientIp })?.status, 403, clientIp)
  }
})

test('the refusal names the code and not the address', () => {
  const refused = verdict({ deny: ['192.0.2.1'] }, { clientIp: '192.0.2.1' })
  assert.deepEqual(refused?.headers, ['x-gw-error', 'GW_IP_DENIED'])
  assert.equal(refused?.problem?.code, 'GW_IP_DENIED')
  assert.doesNotMatch(JSON.stringify(refused), /192\.0\.2\.1/)
})

test('source decides between the client and the connection', () => {
  const fields = { clientIp: '192.0.2.1', peer: '10.0.0.1' }
  assert.equal(verdict({ deny: ['192.0.2.1'] }, fields)?.status, 403)
  assert.equal(verdict({ deny: ['192.0.2.1'], source: 'client' }, fields)?.status, 403)
  assert.equal(verdict({ deny: ['192.0.2.1'], source: 'peer' }, fields), null)
  assert.equal(verdict({ deny: ['10.0.0.1'], source: 'peer' }, fields)?.status, 403)
})

test('a dry run denies no request and marks requests it would have denied', () => {
  const config = { deny: ['192.0.2.1'], dryRun: true }
  const marked = exchange({ clientIp: '192.0.2.1' })
  assert.equal(run(config, marked), null)
  assert.equal(marked.vars?.get('ip-filter'), 'would-deny')
  const passed = exchange({ clientIp: '192.0.2.2' })
  assert.equal(run(config, passed), null)
  assert.equal(passed.vars, null)
})

test('a bad range, an empty allow list and no list at all are refused', () => {
  const compile = (config: Config) => () => ipFilter.compile(config, testEnv())
  assert.throws(
    compile({ deny: ['10.0.0.0/8', '10.0.0.256'] }),
    /under 'deny': '10.0.0.256' is not an address/,
  )
  assert.throws(compile({ allow: ['10.0.0.0/33'] }), /under 'allow': .*at most \/32/)
  assert.throws(compile({ allow: [] }), /would deny everyone/)
  assert.throws(compile({ dryRun: true }), /neither 'allow' nor 'deny'/)
})

test('the schema accepts what is documented and rejects everything else', () => {
  const defaulted = { deny: ['10.0.0.1'] }
  assert.deepEqual(schemaMistakes(ipFilter, defaulted), [])
  assert.deepEqual(defaulted, { deny: ['10.0.0.1'], source: 'client', dryRun: false })
  for (const config of [
    { allow: [] },
    { allow: '10.0.0.1' },
    { allow: [1] },
    { deny: ['a'], source: 'xff' },
    { block: [] },
  ]) {
    assert.notDeepEqual(schemaMistakes(ipFilter, config), [], JSON.stringify(config))
  }
})
