import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { compileCidrs, parseCidr } from './cidr.js'

const octet = fc.integer({ min: 0, max: 255 })
const v4 = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join('.'))
/** Few distinct addresses, so that ranges and lookups overlap. */
const crowdedV4 = fc
  .tuple(fc.constantFrom(10, 11), fc.constantFrom(0, 1, 255), fc.constantFrom(0, 127, 128, 255), octet)
  .map((octets) => octets.join('.'))
const v4Prefix = fc.integer({ min: 0, max: 32 })
const group = fc.constantFrom('0', '1', 'ff', '8000', 'ffff', 'ABCD')
const v6 = fc
  .tuple(
    fc.constantFrom('2001', '2002', 'fe80', '::', '8000'),
    fc.array(group, { minLength: 0, maxLength: 6 }),
  )
  .map(([head, tail]) => (head === '::' ? `::${tail.join(':')}` : `${head}::${tail.slice(0, 6).join(':')}`))
  .filter((text) => !/^::(0:)*ffff/i.test(text))
const v6Prefix = fc.integer({ min: 1, max: 128 })

test('an IPv4 set agrees with the BlockList of node:net', () => {
  const address = fc.oneof(v4, crowdedV4)
  fc.assert(
    fc.property(
      fc.array(fc.tuple(address, v4Prefix), { maxLength: 30 }),
      fc.array(fc.tuple(address, address), { maxLength: 10 }),
      fc.array(address, { minLength: 1, maxLength: 30 }),
      (subnets, pairs, questions) => {
        const oracle = new BlockList()
        const spans = pairs.map(([a, b]) => (compareIpv4(a, b) <= 0 ? [a, b] : [b, a]) as [string, string])
        for (const [net, bits] of subnets) oracle.addSubnet(net, bits)
        for (const [first, last] of spans) oracle.addRange(first, last)
        const set = compileCidrs([
          ...subnets.map(([net, bits]) => `${net}/${bits}`),
          ...spans.map(([first, last]) => `${first}-${last}`),
        ])
        for (const ip of questions) {
          assert.equal(set.has(ip), oracle.check(ip), ip)
          assert.equal(set.has(`::ffff:${ip}`), oracle.check(ip), `mapped ${ip}`)
        }
      },
    ),
  )
})

test('an IPv6 set agrees with the BlockList of node:net', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(v6, v6Prefix), { maxLength: 30 }),
      fc.array(v6, { minLength: 1, maxLength: 30 }),
      (subnets, questions) => {
        const oracle = new BlockList()
        for (const [net, bits] of subnets) oracle.addSubnet(net, bits, 'ipv6')
        const set = compileCidrs(subnets.map(([net, bits]) => `${net}/${bits}`))
        for (const ip of questions) assert.equal(set.has(ip), oracle.check(ip, 'ipv6'), ip)
      },
    ),
  )
})

test('every range format contains its ends and nothing outside', () => {
  const forms: [string, string[], string[]][] = [
    ['10.3.10.7', ['10.3.10.7', '::ffff:10.3.10.7'], ['10.3.10.6', '10.3.10.8']],
    ['10.3.10.0/24', ['10.3.10.0', '10.3.10.255'], ['10.3.9.255', '10.3.11.0']],
    ['10.3.10.*', ['10.3.10.0', '10.3.10.255'], ['10.3.9.255', '10.3.11.0']],
    ['10.3.*.*', ['10.3.0.0', '10.3.255.255'], ['10.2.255.255', '10.4.0.0']],
    ['10.3.10.4-18', ['10.3.10.4', '10.3.10.18'], ['10.3.10.3', '10.3.10.19']],
    ['10.0.0.1-10.0.1.9', ['10.0.0.1', '10.0.0.255', '10.0.1.9'], ['10.0.0.0', '10.0.1.10']],
    ['10.9.9.9/8', ['10.0.0.0', '10.255.255.255'], ['9.255.255.255', '11.0.0.0']],
    ['0.0.0.0/0', ['0.0.0.0', '255.255.255.255'], ['::1']],
    ['2001:db8::/32', ['2001:db8::', '2001:DB8:ffff:ffff:ffff:ffff:ffff:ffff'], ['2001:db9::', '2001:db7::']],
    ['2001:db8::1-2001:db8::9', ['2001:db8::1', '2001:db8::9'], ['2001:db8::', '2001:db8::a']],
    ['::1', ['::1', '0:0:0:0:0:0:0:1', '::0.0.0.1'], ['::', '::2']],
    ['::/0', ['::', 'ffff::', 'fe80::1%eth0'], ['1.2.3.4', '::ffff:1.2.3.4']],
    ['::ffff:10.0.0.0/104', ['10.0.0.0', '10.255.255.255', '::ffff:a00:1'], ['11.0.0.0', '::a00:1']],
    [
      '10.0.0.0/8',
      ['64:ff9b::10.1.2.3', '64:ff9b::a01:203', '::ffff:10.1.2.3'],
      ['64:ff9b::11.1.2.3', '64:ff9b:1::10.1.2.3', '64:ff9b::1:a01:203', '::10.1.2.3', '2002:a01:203::1'],
    ],
    ['0.0.0.0/8', ['0.0.0.1'], ['::1', '::']],
    ['64:ff9b::/96', ['64:ff9b::10.1.2.3'], ['10.1.2.3']],
  ]
  for (const [range, inside, outside] of forms) {
    const set = compileCidrs([range])
    for (const ip of inside) assert.equal(set.has(ip), true, `${range} has ${ip}`)
    for (const ip of outside) assert.equal(set.has(ip), false, `${range} has not ${ip}`)
  }
})

test('overlapping ranges keep the longer end of both', () => {
  const set = compileCidrs(['10.0.0.0/8', '10.1.0.0/16', '10.200.0.0-11.0.0.5', '12.0.0.1'])
  assert.deepEqual(
    ['10.1.2.3', '10.255.0.0', '11.0.0.5', '11.0.0.6', '12.0.0.1', '9.9.9.9'].map((ip) => set.has(ip)),
    [true, true, true, false, true, false],
  )
})

test('an empty set contains nothing, and invalid addresses are in no set', () => {
  assert.equal(compileCidrs([]).has('10.0.0.1'), false)
  const all = compileCidrs(['0.0.0.0/0', '::/0'])
  for (const text of [
    '',
    '10.0.0',
    '10.0.0.1 ',
    '010.0.0.1',
    '10.0.0.256',
    '1:2:3',
    ':::',
    'localhost',
    '::1%',
  ]) {
    assert.equal(all.has(text), false, text)
  }
})

test('invalid ranges are rejected with a remedy', () => {
  const refused = [
    '',
    '10.0.0',
    '10.0.0.0/',
    '10.0.0.0/a',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.*.0.1',
    '*.0.0.1',
    '10.3.10.*-5',
    '*',
    '10.0.0.1-',
    '-10.0.0.1',
    '10.0.0.1-10.0.0.',
    '10.0.0.1-256',
    '10.0.0.1-::1',
    '::1-5',
    'fe80::1%eth0',
    'host.example',
    ' 10.0.0.1',
    '300.*.*.*',
  ]
  for (const text of refused) {
    assert.throws(
      () => parseCidr(text),
      { name: 'RangeError', message: /is not an address or a range; use/ },
      text,
    )
  }
})

test('a prefix that is too long and a reversed range have their own messages', () => {
  assert.throws(() => parseCidr('10.0.0.0/33'), { message: /prefix of 33 bits; use at most \/32/ })
  assert.throws(() => parseCidr('::/129'), { message: /at most \/128/ })
  assert.throws(() => parseCidr('10.0.0.9-10.0.0.1'), { message: /ends before it begins/ })
  assert.throws(() => parseCidr('10.0.0.9-1'), { message: /ends before it begins/ })
})

function compareIpv4(a: string, b: string): number {
  const left = parseCidr(a).first[0]!
  return left - parseCidr(b).first[0]!
}

test('a deny list also covers tunnel addresses', () => {
  const set = compileCidrs(['10.0.0.0/8', '2001:db8::/32'])
  for (const ip of ['10.1.2.3', '::ffff:10.1.2.3', '64:ff9b::10.1.2.3', '2001:db8::1', '::10.1.2.3'])
    assert.equal(set.hasOrTunnels(ip), true, ip)
  // 6to4, Teredo, which inverts the address, IPv4-translated, and ISATAP.
  for (const ip of [
    ...['2002:a01:203::1', '2001:0:4136:e378:8000:63bf:f5fe:fdfc', '::ffff:0:10.1.2.3'],
    ...['fe80::5efe:10.1.2.3', '2a00:1:2:3:200:5efe:a01:203'],
  ])
    assert.deepEqual([set.has(ip), set.hasOrTunnels(ip)], [false, true], ip)
  for (const ip of [
    '::',
    '::1',
    '11.1.2.3',
    '2002:b01:203::1',
    '2001:1::a01:203',
    '2a00::5eff:10.1.2.3',
    'acme',
  ])
    assert.equal(set.hasOrTunnels(ip), false, ip)
})
