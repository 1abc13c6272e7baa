import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bodyOf } from './call-body.js'

test('JSON bodies are well-formed at every size, the same each time, and hold an order where there is room', () => {
  for (const bytes of [2, 3, 35, 36, 37, 50, 100, 1024, 51_200]) {
    const body = bodyOf({ kind: 'json', bytes })
    assert.equal(body.length, bytes)
    assert.deepEqual(bodyOf({ kind: 'json', bytes }), body)
    const value = JSON.parse(body.toString()) as string | { readonly order: { readonly symbol: string } }
    assert.equal(typeof value === 'string' ? bytes < 40 : value.order.symbol === 'IBM', true)
  }
  assert.throws(() => bodyOf({ kind: 'json', bytes: 1 }), /no JSON body of 1 bytes/)
})

test('XML bodies are messages of orders', () => {
  for (const bytes of [500, 1024, 102_400]) {
    const text = bodyOf({ kind: 'xml', bytes }).toString()
    assert.match(text, /^<soapenv:Envelope .*?<order><symbol>IBM<\/symbol>.*<\/soapenv:Envelope>$/)
    assert.equal(Buffer.byteLength(text), bytes)
  }
  assert.throws(() => bodyOf({ kind: 'xml', bytes: 100 }), /an order does not fit into 100 bytes/)
})

test('a body that was given is that one', () => {
  assert.equal(bodyOf({ kind: 'given', bytes: 2, base64: 'aGk=' }).toString(), 'hi')
})
