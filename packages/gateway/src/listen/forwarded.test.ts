import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { forwardedHops } from './forwarded.js'

const CASES: readonly (readonly [string, readonly string[]])[] = [
  ['for=192.0.2.43', ['192.0.2.43']],
  ['For="[2001:db8:cafe::17]:4711"', ['[2001:db8:cafe::17]:4711']],
  ['for=192.0.2.60;proto=http;by=203.0.113.43', ['192.0.2.60']],
  ['proto=http; for=192.0.2.60', ['192.0.2.60']],
  ['for=192.0.2.43, for=198.51.100.17', ['192.0.2.43', '198.51.100.17']],
  ['for=_hidden;;by=x,proto=https', ['_hidden', 'unknown']],
  ['host="a;for=1.1.1.1";for=2.2.2.2', ['2.2.2.2']],
  ['for=2.2.2.2;host="a,for=1.1.1.1"', ['2.2.2.2']],
  ['for="1.1.1.1\\"";by=2.2.2.2', ['1.1.1.1"']],
  ['', ['']],
  [', for=1.1.1.1,', ['', '1.1.1.1', '']],
  ['for=', ['unknown']],
  ['for=1.1.1.1;for=2.2.2.2', ['twice']],
  ['for', ['unknown']],
  ['xfor=1.1.1.1', ['unknown']],
]

for (const [value, hops] of CASES) {
  test(`'${value}' names ${hops.join(' and ')}`, () => assert.deepEqual(nodesOf(value), hops))
}

function nodesOf(value: string): string[] {
  return forwardedHops(value).map(({ node }) => node)
}

test('the scheme belongs to the element of its hop', () => {
  const hops = forwardedHops('for=1.1.1.1;proto=HTTPS;host="a;proto=http", for=2.2.2.2')
  assert.deepEqual(
    hops.map(({ proto }) => proto),
    ['https', ''],
  )
})

test('nothing that a client sends can change the element that its proxy adds', () => {
  const unit = fc.constantFrom('"', '\\', ',', ';', '=', ' ', 'for=', '1.1.1.1', 'host="', 'a')
  const claim = fc.array(unit, { maxLength: 20 }).map((units) => units.join(''))
  fc.assert(
    fc.property(claim, (text) => {
      assert.equal(nodesOf(`${text}, for=192.0.2.1`).at(-1), '192.0.2.1')
      assert.equal(nodesOf(`${text}, for="[2001:db8::1]:80";proto=https`).at(-1), '[2001:db8::1]:80')
    }),
    { numRuns: 1000 },
  )
})
