import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { clientNetwork, ipv4Number, isIpAddress, isIpv4Mapped, readIpv6 } from './ip-address.js'

test('address validation agrees with node:net for valid, near-valid and arbitrary text', () => {
  const nearV4 = fc.string({ unit: fc.constantFrom(...'0125.9'), maxLength: 17 })
  const nearV6 = fc.string({ unit: fc.constantFrom(...'::0fFa1.g'), maxLength: 42 })
  const groups = fc.array(fc.constantFrom('', '0', '1', 'ffff', 'ABC', '10000', '1.2.3.4', '1.2.3'), {
    maxLength: 9,
  })
  const text = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    nearV4,
    nearV6,
    groups.map((parts) => parts.join(':')),
    fc.string(),
  )
  fc.assert(
    fc.property(
      text.filter((candidate) => !candidate.includes('%')),
      (candidate) => assert.equal(isIpAddress(candidate), isIP(candidate) !== 0, candidate),
    ),
    { numRuns: 2000 },
  )
})

test('an IPv4 address is one number, most significant octet first', () => {
  assert.equal(ipv4Number('0.0.0.0'), 0)
  assert.equal(ipv4Number('10.0.0.1'), 0x0a000001)
  assert.equal(ipv4Number('255.255.255.255'), 0xffffffff)
  for (const text of [
    '1.2.3',
    '1.2.3.4.',
    '1..2.3',
    '.1.2.3',
    '01.2.3.4',
    '1.2.3.256',
    '1.2.3.4.5',
    '0x1.2.3.4',
  ]) {
    assert.equal(ipv4Number(text), -1, text)
  }
})

test('an IPv6 address is four words, the place of "::" filled with zeros', () => {
  assert.deepEqual(words('::'), [0, 0, 0, 0])
  assert.deepEqual(words('1:2:3:4:5:6:7:8'), [0x10002, 0x30004, 0x50006, 0x70008])
  assert.deepEqual(words('ffff::1'), [0xffff0000, 0, 0, 1])
  assert.deepEqual(words('::2:3'), [0, 0, 0, 0x20003])
  assert.deepEqual(words('1:2::'), [0x10002, 0, 0, 0])
  assert.deepEqual(words('::ffff:255.254.253.252'), [0, 0, 0xffff, 0xfffefdfc])
  assert.deepEqual(words('fe80::1%eth0'), [0xfe800000, 0, 0, 1])
  assert.equal(words('fe80::1%'), null)
})

test('only ::ffff:0:0/96 is IPv4-mapped', () => {
  assert.equal(isIpv4Mapped(Uint32Array.of(0, 0, 0xffff, 7)), true)
  assert.equal(isIpv4Mapped(Uint32Array.of(0, 0, 0, 7)), false)
  assert.equal(isIpv4Mapped(Uint32Array.of(0, 1, 0xffff, 7)), false)
})

function words(text: string): number[] | null {
  const target = new Uint32Array(4)
  return readIpv6(text, target) ? [...target] : null
}

test('an IPv6 client is identified by its /64 network, in any spelling', () => {
  for (const address of ['2001:db8::1', '2001:DB8:0:0:ffff::', '2001:0db8:0::0.0.0.1'])
    assert.equal(clientNetwork(address), '2001:db8:0:0::/64')
  assert.equal(clientNetwork('2001:db8:0:1::1'), '2001:db8:0:1::/64')
  for (const address of ['64:ff9b::192.0.2.1', '::ffff:c000:201'])
    assert.equal(clientNetwork(address), '192.0.2.1', address)
  for (const other of ['192.0.2.1', 'acme', 'a:b', '']) assert.equal(clientNetwork(other), other)
})
