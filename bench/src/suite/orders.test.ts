import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FIRST_SYMBOL, ordersXml, REQUEST_STYLESHEET, RESPONSE_STYLESHEET } from './orders.js'

test('a message has exactly the size asked for, and begins with the order that is looked for', () => {
  for (const bytes of [500, 1000, 1024, 10_000, 10_240, 100_000]) {
    const xml = ordersXml(bytes)
    assert.equal(Buffer.byteLength(xml), bytes)
    assert.equal(/<symbol>(\w+)<\/symbol>/.exec(xml)?.[1], FIRST_SYMBOL)
    assert.equal(xml, ordersXml(bytes))
    assert.ok(xml.split('<order>').length > bytes / 200)
    assert.doesNotMatch(xml, /-----/)
  }
  assert.throws(() => ordersXml(100), /an order does not fit into 100 bytes/)
})

test('the second style sheet gives back the names that the first has turned round', () => {
  const renamed = (sheet: string): [string, string][] =>
    [...sheet.matchAll(/match="(\w+)"><xsl:element name="(\w+)"/g)].map(([, from, to]) => [from!, to!])
  const there = renamed(REQUEST_STYLESHEET)
  assert.equal(there.length, 6)
  assert.deepEqual(
    renamed(RESPONSE_STYLESHEET).map(([from, to]) => [to, from]),
    there,
  )
})
