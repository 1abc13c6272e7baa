import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileCidrs, Exchange, headerValue, isIpAddress } from '@sluice/core'
import fc from 'fast-check'
import { addForwardingFields, applyClientAddress, type Trust } from './client-address.js'

const TRUSTED = compileCidrs(['10.0.0.0/8', 'fd00::/8'])
const PROXIES: Trust = { trusted: TRUSTED, forwardedHeader: 'x-forwarded-for' }
/** Proxies that send Forwarded. */
const FORWARDED: Trust = { trusted: TRUSTED, forwardedHeader: 'forwarded' }

function arrival(headers: string[], peer = '10.0.0.1'): Exchange {
  return Object.assign(new Exchange(), { peer, headers, authority: 'api.example', id: 'own' })
}

/** The client's address, or the code of the refusal. */
function clientOf(headers: string[], trust = PROXIES): string {
  const x = arrival(headers)
  return applyClientAddress(x, trust)?.problem?.code ?? x.clientIp
}

test('forwarding fields of a peer that is not a trusted proxy are removed, all others stay', () => {
  const fields = [
    'x-forwarded-for',
    'x-forwarded-proto',
    'x-forwarded-x',
    'forwarded',
    'x-request-id',
    'x-real-ip',
    'x_forwarded_for',
    'x-forwarded_proto',
    'x_request_id',
    'x_real_ip',
  ]
  for (const trusted of [null, TRUSTED]) {
    const x = arrival(
      [...fields.flatMap((name) => [name, '1.1.1.1']), 'x-forward', 'a', 'x_key', 'b'],
      '9.9.9.9',
    )
    assert.equal(applyClientAddress(x, { trusted, forwardedHeader: 'x-forwarded-for' }), null)
    assert.deepEqual(x.headers, ['x-forward', 'a', 'x_key', 'b'])
    assert.deepEqual([x.clientIp, x.scheme, x.id], ['9.9.9.9', 'http', 'own'])
  }
})

test('the client is the right-most address that is not a trusted proxy', () => {
  assert.equal(clientOf(['x-forwarded-for', '1.1.1.1, 2.2.2.2, 10.0.0.2']), '2.2.2.2')
  assert.equal(clientOf(['x-forwarded-for', '1.1.1.1', 'x-forwarded-for', '10.0.0.2']), '1.1.1.1')
  assert.equal(clientOf(['x-forwarded-for', '10.0.0.3,10.0.0.2']), '10.0.0.3')
  assert.equal(clientOf(['x-forwarded-for', '2.2.2.2:4711']), '2.2.2.2')
  assert.equal(clientOf(['x-forwarded-for', '[2001:db8::1]:4711, fd00::1']), '2001:db8::1')
  assert.equal(clientOf(['x-forwarded-for', '1.1.1.1, , 10.0.0.2,']), '1.1.1.1')
  assert.equal(clientOf(['x-forwarded-for', '']), '10.0.0.1')
  assert.equal(
    clientOf(['forwarded', 'for=1.1.1.1, for="[2001:db8::1]:80";proto=https'], FORWARDED),
    '2001:db8::1',
  )
  for (const trust of [PROXIES, FORWARDED]) assert.equal(clientOf([], trust), '10.0.0.1')
})

test('a client has one address, however proxies write it', () => {
  const spellings = {
    '1.1.1.1': ['::ffff:1.1.1.1', '[::FFFF:101:101]:80', '0:0:0:0:0:ffff:1.1.1.1', '1.1.1.1:80'],
    '2001:db8::1': ['2001:DB8::1', '2001:0db8:0:0::1', '2001:db8::0.0.0.1', '[2001:db8:0:0:0:0:0:1]:1'],
    '::': ['0::0', '0:0:0:0:0:0:0:0'],
  }
  for (const [address, others] of Object.entries(spellings))
    for (const other of others) assert.equal(clientOf(['x-forwarded-for', other]), address, other)
})

test("the client's port is taken from the address that a trusted proxy sent", () => {
  const portOf = (headers: string[], peer?: string, trust = PROXIES): number => {
    const x = arrival(headers, peer)
    applyClientAddress(x, trust)
    return x.clientPort
  }
  assert.equal(portOf(['x-forwarded-for', '1.1.1.1:80, 2.2.2.2:4711, 10.0.0.2:9']), 4711)
  assert.equal(portOf(['forwarded', 'for="[2001:db8::1]:65535"'], '10.0.0.1', FORWARDED), 65_535)
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

test('the forwarding field that the proxies do not use is ignored, and does not reach the upstream', () => {
  const both = [
    ...['x-forwarded-for', '1.1.1.1', 'x-forwarded-proto', 'https', 'x-real-ip', '1.1.1.1'],
    ...['forwarded', 'for=2.2.2.2;proto=https', 'x_forwarded_for', '3.3.3.3'],
  ]
  const x = arrival([...both])
  applyClientAddress(x, PROXIES)
  assert.deepEqual([x.clientIp, x.scheme, x.headers], ['1.1.1.1', 'https', both.slice(0, 6)])
  const y = arrival([...both.slice(0, 6), 'forwarded', 'for=2.2.2.2'])
  applyClientAddress(y, FORWARDED)
  assert.deepEqual([y.clientIp, y.scheme, y.headers], ['2.2.2.2', 'http', ['forwarded', 'for=2.2.2.2']])
  addForwardingFields(y)
  assert.equal(headerValue(y.headers, 'x-forwarded-for'), '2.2.2.2, 10.0.0.1')
  assert.deepEqual(clientOf(['x-forwarded-for', '1.1.1.1'], FORWARDED), '10.0.0.1')
  assert.deepEqual(clientOf(['forwarded', 'for=1.1.1.1'], PROXIES), '10.0.0.1')
})

test('a scheme is accepted only if exactly one proxy names one', () => {
  for (const [proto, expected] of [
    [['https'], 'https'],
    [['https, http'], 'http'],
    [['https', 'http'], 'http'],
  ] as const) {
    const x = arrival(proto.flatMap((value) => ['x-forwarded-proto', value]))
    applyClientAddress(x, PROXIES)
    assert.equal(x.scheme, expected, proto.join())
    addForwardingFields(x)
    assert.equal(headerValue(x.headers, 'x-forwarded-proto'), expected)
  }
  const y = arrival(['forwarded', 'for=1.1.1.1;proto=http, for=2.2.2.2;proto=HTTPS, for=10.0.0.2;proto=http'])
  applyClientAddress(y, FORWARDED)
  assert.deepEqual([y.clientIp, y.scheme], ['2.2.2.2', 'https'])
})

test('a request is refused if a hop that must be read is not an address', () => {
  for (const hop of [
    'unknown',
    '_hidden',
    'abc',
    '1.2.3',
    '1.2.3.4.5',
    '::::',
    'fe80::1%eth0',
    '[::1',
    '1.1.1.300',
    '2.2.2.2:',
    '2.2.2.2:abc',
    '2.2.2.2:65536',
    '2.2.2.2:80:80',
    '[2.2.2.2]',
    '[::1]x',
    '[::1]:',
    '[::1]:99999',
  ])
    assert.equal(clientOf(['x-forwarded-for', `1.1.1.1, ${hop}`]), 'GW_BAD_REQUEST', hop)
  assert.equal(clientOf(['x-forwarded-for', 'unknown, 10.0.0.2']), 'GW_BAD_REQUEST')
  assert.equal(clientOf(['x-forwarded-for', 'unknown, 1.1.1.1, 10.0.0.2']), '1.1.1.1')
  for (const element of ['for=unknown', 'for=_hidden', 'proto=https', 'nonsense', 'for=1.1.1.1;for=2.2.2.2'])
    assert.equal(clientOf(['forwarded', `for=1.1.1.1, ${element}`], FORWARDED), 'GW_BAD_REQUEST', element)
})

test('the address of a served client is always a valid address', () => {
  const hop = fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.ipV4(),
    fc.ipV6(),
    fc.constantFrom('[', ']', '10.0.0.1', '::1%a', 'deadbeef', '1.1.1.1:'),
  )
  fc.assert(
    fc.property(fc.array(hop, { maxLength: 4 }), (hops) => {
      const client = clientOf(['x-forwarded-for', hops.join(', ')])
      assert.ok(isIpAddress(client) || client === 'GW_BAD_REQUEST')
    }),
    { numRuns: 500 },
  )
})

test('a trusted proxy sets the scheme and the request id if they are well-formed', () => {
  const x = arrival(['x-forwarded-proto', 'https', 'x-request-id', 'a.b:c-d_1'])
  applyClientAddress(x, PROXIES)
  assert.deepEqual([x.scheme, x.id], ['https', 'a.b:c-d_1'])
  for (const id of ['', 'a b', 'a"b', 'é', 'a'.repeat(129)]) {
    const y = arrival(['x-forwarded-proto', 'gopher', 'x-request-id', id])
    applyClientAddress(y, PROXIES)
    assert.deepEqual([y.scheme, y.id], ['http', 'own'])
  }
})

test('the upstream is told the client, the scheme, the host and the request id', () => {
  const x = arrival(['accept', 'a'])
  addForwardingFields(x)
  assert.deepEqual(x.headers, [
    ...['accept', 'a', 'x-forwarded-for', '10.0.0.1', 'x-forwarded-proto', 'http'],
    ...['x-forwarded-host', 'api.example', 'x-request-id', 'own'],
  ])
})

test("behind a proxy, this hop is appended to the proxy's forwarding fields", () => {
  const said = [
    'x-forwarded-for',
    '1.1.1.1',
    'x-forwarded-for',
    '2.2.2.2',
    'x-forwarded-host',
    'outside.example',
  ]
  const x = arrival([...said, 'x-request-id', 'theirs'], 'fd00::7')
  applyClientAddress(x, PROXIES)
  addForwardingFields(x)
  assert.equal(headerValue(x.headers, 'x-forwarded-for'), '1.1.1.1, 2.2.2.2, fd00::7')
  assert.equal(headerValue(x.headers, 'x-forwarded-host'), 'outside.example')
  assert.equal(headerValue(x.headers, 'forwarded'), null)
  assert.equal(headerValue(x.headers, 'x-request-id'), 'theirs')
  const y = arrival(['forwarded', 'for=1.1.1.1'], 'fd00::7')
  applyClientAddress(y, FORWARDED)
  addForwardingFields(y)
  assert.equal(
    headerValue(y.headers, 'forwarded'),
    'for=1.1.1.1, for="[fd00::7]";host="api.example";proto=http',
  )
})
