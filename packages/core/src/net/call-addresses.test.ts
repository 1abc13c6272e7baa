import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileCallAddresses, isMetadataAddress } from './call-addresses.js'

const PUBLIC = ['1.1.1.1', '172.15.255.255', '172.32.0.0', '100.128.0.1', '2606:4700::1111']
const PRIVATE_ONES = ['10.1.2.3', '127.0.0.1', '192.168.0.1', '172.31.0.1', '100.64.0.1', '::1', 'fd12::1']
const METADATA = [
  ...['169.254.169.254', 'fe80::1', 'fe80::1%eth0', 'fd00:ec2::254', 'fd20:ce::254', '100.100.100.200'],
  ...['168.63.129.16', '::ffff:168.63.129.16'],
]
const OTHERS = [
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::7f00:1',
  '64:ff9b::a9fe:a9fe',
  '2002:7f00:1::',
  '::ffff:0:127.0.0.1',
  '2a00:1::5efe:127.0.0.1',
  '2a00:1::200:5efe:a9fe:a9fe',
  'ff02::1',
]

test('calls go only to public and listed addresses', () => {
  const may = compileCallAddresses([])
  for (const address of PUBLIC) assert.equal(may(address), true, address)
  for (const address of [...PRIVATE_ONES, ...METADATA, ...OTHERS]) assert.equal(may(address), false, address)
})

test('an IPv4-mapped address counts as the IPv4 address', () => {
  const may = compileCallAddresses(['10.0.0.5'])
  assert.equal(may('::ffff:127.0.0.1'), false)
  assert.equal(may('::ffff:7f00:1'), false)
  assert.equal(may('::ffff:a00:5'), true)
  assert.equal(may('::ffff:1.1.1.1'), true)
})

test('`private` allows private networks but not metadata addresses', () => {
  const may = compileCallAddresses(['private'])
  for (const address of PRIVATE_ONES) assert.equal(may(address), true, address)
  for (const address of [...METADATA, ...OTHERS]) assert.equal(may(address), false, address)
  assert.equal(compileCallAddresses(['169.254.0.0/16'])('169.254.169.254'), true)
  assert.deepEqual([isMetadataAddress('169.254.169.254'), isMetadataAddress('10.0.0.1')], [true, false])
})

test('invalid addresses are not allowed', () => {
  assert.throws(() => compileCallAddresses(['intern']), RangeError)
  assert.throws(() => compileCallAddresses(['10.0.0.0/33']), RangeError)
})
