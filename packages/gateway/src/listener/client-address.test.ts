import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileCidrs, Exchange, headerValue, isIpAddress } from '@sluice/core'
import fc from 'fast-check'
import { addForwardingFields, applyClientAddress } from './client-address.js'

const PROXIES = compileCidrs(['10.0.0.0/8', 'fd00::/8'])

function arrival(headers: string[], peer = '10.0.0.1'): Exchange {
  return Object.assign(new Exchange(), { peer, headers, authority: 'api.example', id: 'own' })
}

function clientOf(headers: string[], peer?: string): string {
  const x = arrival(headers, peer)
  applyClientAddress(x, PROXIES)
  return x.clientIp
}

test('whoever is not a trusted proxy gets no say: its forwarding fields are gone, all others stay', () => {
  const fields = [
    'x-forwarded-for',
    'x-forwarded-proto',
    'x-forwarded-x',
    'forwarded',
    'x-request-id',
    'x-real-ip',
  ]
  for (const trusted of [null, PROXIES]) {
    const x = arrival(
      [...fields.flatMap((name) => [name, '1.1.1.1']), 'x-forward', 'a', 'accept', 'b'],
      '9.9.9.9',
    )
    applyClientAddress(x, trusted)
    assert.deepEqual(x.headers, ['x-forward', 'a', 'accept', 'b'])
    assert.deepEqual([x.clientIp, x.scheme, x.id], ['9.9.9.9', 'http', 'own'])
  }
})

test('the client is the right-most address that is not a proxy of ours', () => {
  assert.equal(clientOf(['x-forwarded-for', '1.1.1.1, 2.2.2.2, 10.0.0.2']), '2.2.2.2')
  assert.equal(clientOf(['x-forwarded-for', '1.1.1.1', 'x-forwarded-for', '10.0.0.2']), '1.1.1.1')
  assert.equal(clientOf(['x-forwarded-for', '10.0.0.3,10.0.0.2']), '10.0.0.3')
  assert.equal(clientOf(['x-forwarded-for', '2.2.2.2:4711']), '2.2.2.2')
  assert.equal(clientOf(['x-forwarded-for', '[2001:db8::1]:4711, fd00::1']), '2001:db8::1')
  assert.equal(clientOf(['forwarded', 'for=1.1.1.1, for="[2001:db8::1]:80";proto=https']), '2001:db8::1')
  assert.equal(clientOf([]), '10.0.0.1')
})

test('the port of the client is what a trusted proxy writes behind the address', () => {
  const portOf = (headers: string[], peer?: string): number => {
    const x = arrival(headers, peer)
    applyClientAddress(x, PROXIES)
    return x.clientPort
  }
  assert.equal(portOf(['x-forwarded-for', '1.1.1.1:80, 2.2.2.2:4711, 10.0.0.2:9']), 4711)
  assert.equal(portOf(['forwarded', 'for="[2001:db8::1]:65535"']), 65_535)
  for (const hop of [
    '2.2.2.2',
    '2.2.2.2:',
    '2.2.2.2:65536',
    '2.2.2.2:_hidden',
    '2001:db8::1',
    '[2001:db8::1]',
  ])
    assert.equal(portOf(['x-forwarded-for', hop]), 0, hop)
  assert.equal(portOf(['x-forwarded-for', '2.2.2.2:4711'], '9.9.9.9'), 0)
  assert.equal(portOf([]), 0)
})

test('what is no address makes the proxy itself the client', () => {
  for (const hop of [
    '',
    'unknown',
    '_hidden',
    'abc',
    '1.2.3',
    '1.2.3.4.5',
    '::::',
    'fe80::1%eth0',
    '[::1',
    '1.1.1.300',
  ])
    assert.equal(clientOf(['x-forwarded-for', `1.1.1.1, ${hop}`]), '10.0.0.1', hop)
})

test('the address of the client is always an address', () => {
  const hop = fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.ipV4(),
    fc.ipV6(),
    fc.constantFrom('[', ']', '10.0.0.1', '::1%a', 'deadbeef', '1.1.1.1:'),
  )
  fc.assert(
    fc.property(fc.array(hop, { maxLength: 4 }), (hops) => {
      assert.ok(isIpAddress(clientOf(['x-forwarded-for', hops.join(', ')])))
    }),
    { numRuns: 500 },
  )
})

test('a trusted proxy gives the scheme and the request id, when they are well-formed', () => {
  const x = arrival(['x-forwarded-proto', 'https', 'x-request-id', 'a.b:c-d_1'])
  applyClientAddress(x, PROXIES)
  assert.deepEqual([x.scheme, x.id], ['https', 'a.b:c-d_1'])
  for (const id of ['', 'a b', 'a"b', 'é', 'a'.repeat(129)]) {
    const y = arrival(['x-forwarded-proto', 'gopher', 'x-request-id', id])
    applyClientAddress(y, PROXIES)
    assert.deepEqual([y.scheme, y.id], ['http', 'own'])
  }
})

test('the upstream hears of the client, the scheme, the host and the request', () => {
  const x = arrival(['accept', 'a'])
  addForwardingFields(x)
  assert.deepEqual(x.headers, [
    ...['accept', 'a', 'x-forwarded-for', '10.0.0.1', 'x-forwarded-proto', 'http'],
    ...['x-forwarded-host', 'api.example', 'x-request-id', 'own'],
  ])
})

test('behind a proxy this hop is added to what the proxy has said', () => {
  const said = [
    'x-forwarded-for',
    '1.1.1.1',
    'x-forwarded-for',
    '2.2.2.2',
    'x-forwarded-host',
    'outside.example',
  ]
  const x = arrival([...said, 'forwarded', 'for=1.1.1.1', 'x-request-id', 'theirs'], 'fd00::7')
  applyClientAddress(x, PROXIES)
  addForwardingFields(x)
  assert.equal(headerValue(x.headers, 'x-forwarded-for'), '1.1.1.1, 2.2.2.2, fd00::7')
  assert.equal(headerValue(x.headers, 'x-forwarded-host'), 'outside.example')
  assert.equal(
    headerValue(x.headers, 'forwarded'),
    'for=1.1.1.1, for="[fd00::7]";host="api.example";proto=http',
  )
  assert.equal(headerValue(x.headers, 'x-request-id'), 'theirs')
})
