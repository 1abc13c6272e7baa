import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayPart } from './gateway-part.js'

test('the part identifies the gateway and its current configuration', () => {
  let digest = ''
  const part = new GatewayPart({ node: 'pod "1"', worker: 2, version: '1.0', configDigest: () => digest })
  const recorded = () => JSON.parse(`{${part.text().slice(1)}}`)
  const gw = { pod: 'pod "1"', worker: 2, version: '1.0' }
  assert.deepEqual(recorded(), { gw: { ...gw, config: '' } })
  digest = 'ab\n'
  assert.deepEqual(recorded(), { gw: { ...gw, config: 'ab\n' } })
  assert.deepEqual(recorded(), { gw: { ...gw, config: 'ab\n' } })
  digest = ''
  assert.deepEqual(recorded(), { gw: { ...gw, config: '' } })
  digest = '0123456789abcdef'
  assert.deepEqual(recorded(), { gw: { ...gw, config: '0123456789ab' } })
})

test('a configured environment comes before it', () => {
  const options = { node: 'n', worker: 1, version: '1', configDigest: () => 'd' }
  const part = new GatewayPart({ ...options, environment: 'a"b' })
  const gw = { pod: 'n', worker: 1, version: '1', config: 'd' }
  assert.deepEqual(JSON.parse(`{${part.text().slice(1)}}`), { env: 'a"b', gw })
})
