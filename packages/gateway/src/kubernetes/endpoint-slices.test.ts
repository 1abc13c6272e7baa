import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpointsOf, MAX_SERVICE_ENDPOINTS, readSlice } from './endpoint-slices.js'

const SERVICE = { name: 'orders', namespace: 'default', port: '8080' }

function slice(addresses: readonly string[], more: object = {}) {
  const endpoints = addresses.map((address) => ({ addresses: [address] }))
  const ports = [{ name: 'http', port: 8080 }]
  return readSlice({ metadata: { name: 'a' }, addressType: 'IPv4', ports, endpoints, ...more })!
}

function addressesOf(...slices: ReturnType<typeof slice>[]): string[] {
  return endpointsOf(SERVICE, slices).endpoints.map(({ address }) => address)
}

test('missing conditions mean that a pod is ready', () => {
  assert.deepEqual(addressesOf(slice(['10.0.0.1'])), ['10.0.0.1'])
})

test('a slice cannot direct requests to services beside the gateway', () => {
  const forbidden = [
    '127.0.0.1',
    '0.0.0.0',
    '169.254.169.254',
    '224.0.0.1',
    '192.0.0.192',
    'localhost',
    'evil.test',
    '',
  ]
  assert.deepEqual(addressesOf(slice([...forbidden, '10.0.0.1'])), ['10.0.0.1'])
  const forbidden6 = ['::1', '::', 'fe80::1', 'ff02::1', '::ffff:127.0.0.1', '::1%lo', 'fe80::1%eth0']
  // Cloud metadata addresses, and other notations of IPv4.
  forbidden6.push('fd00:ec2::254', '64:ff9b::a9fe:a9fe', '::127.0.0.1', '2002:7f00:1::')
  assert.deepEqual(addressesOf(slice([...forbidden6, 'fd00::1'], { addressType: 'IPv6' })), ['fd00::1'])
})

test('each pod of a dual-stack service counts once', () => {
  assert.deepEqual(addressesOf(slice(['fd00::1'], { addressType: 'IPv6' }), slice(['10.0.0.1'])), [
    '10.0.0.1',
  ])
})

test('a slice of host names is ignored', () => {
  assert.equal(readSlice({ metadata: { name: 'a' }, addressType: 'FQDN', endpoints: [] }), null)
  for (const value of [null, 3, 'x', [], {}, { metadata: null }]) assert.equal(readSlice(value), null)
})

test('a slice of any shape is parsed safely', () => {
  for (const endpoints of [
    null,
    {},
    [null],
    [{ addresses: 3 }],
    [{ addresses: [null, {}] }],
    [{ conditions: 1 }],
  ])
    assert.deepEqual(addressesOf(slice([], { endpoints })), [])
  assert.deepEqual(addressesOf(slice(['10.0.0.1'], { ports: [{ port: '8080' }, null, { port: 1.5 }] })), [])
})

test('invalid ports are ignored, and oversized slices are truncated', () => {
  for (const port of [0, -1, 65_536, 1e9]) {
    const { endpoints } = endpointsOf({ ...SERVICE, port: String(port) }, [
      slice(['10.0.0.1'], { ports: [{ name: 'http', port }] }),
    ])
    assert.deepEqual(endpoints, [], String(port))
  }
  const many = Array.from({ length: 5000 }, (_, i) => ({ name: 'x'.repeat(5000), port: i + 1 }))
  const huge = slice(Array(5000).fill('10.0.0.1'), { ports: many })
  assert.ok(huge.endpoints.length <= 1000 && JSON.stringify(huge.ports).length < 20_000)
  const { problem } = endpointsOf({ ...SERVICE, port: 'none' }, [huge])
  assert.ok(problem!.length < 1000)
})

test('a missing port is reported with the available ones', () => {
  const { problem } = endpointsOf({ ...SERVICE, port: '80' }, [slice(['10.0.0.1'])])
  assert.equal(
    problem,
    'no pod of the Service orders in namespace default has port 80; available: 8080 (http)',
  )
  const none = endpointsOf(SERVICE, []).problem
  assert.equal(none, 'the Service orders in namespace default has no pods, or there is no such Service')
})

test('the number of pods is limited', () => {
  const many = Array.from({ length: 300 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
  assert.equal(addressesOf(slice(many)).length, MAX_SERVICE_ENDPOINTS)
})
