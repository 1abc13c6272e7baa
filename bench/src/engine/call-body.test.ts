import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bodyOf } from './call-body.js'

const SIZES = [64, 100, 500, 1024, 5120, 51_200, 102_400]

test('a body has exactly the bytes that were asked for, and the same ones each time', () => {
  for (const kind of ['text', 'json', 'xml'] as const) {
    for (const bytes of [4, 7, 8, 20, 49, 50, 51, ...SIZES]) {
      assert.equal(bodyOf({ kind, bytes }).length, bytes, `${kind} of ${bytes} bytes`)
      assert.deepEqual(bodyOf({ kind, bytes }), bodyOf({ kind, bytes }))
    }
  }
  assert.equal(bodyOf({ kind: 'text', bytes: 0 }).length, 0)
})

test('JSON bodies are well-formed at every size, and hold an order with a symbol where there is room', () => {
  for (let bytes = 1; bytes < 200; bytes++) JSON.parse(bodyOf({ kind: 'json', bytes }).toString())
  for (const bytes of SIZES) {
    const { order } = JSON.parse(bodyOf({ kind: 'json', bytes }).toString()) as { order: { symbol: string } }
    assert.equal(order.symbol, 'IBM')
  }
})

test('XML bodies are well-formed at every size, and hold an order with a symbol where there is room', () => {
  const short = /^(?:<o *\/>|<o>[a-z0-9 ]*<\/o>)$/
  const whole = /^<order><symbol>IBM<\/symbol><note>[a-z0-9 ]*<\/note><\/order>$/
  for (let bytes = 4; bytes < 200; bytes++) {
    const text = bodyOf({ kind: 'xml', bytes }).toString()
    assert.ok(short.test(text) || whole.test(text), text)
  }
  const message = /^<soapenv:Envelope .*?<order><symbol>IBM<\/symbol>.*<\/soapenv:Envelope>$/
  for (const bytes of SIZES) {
    const text = bodyOf({ kind: 'xml', bytes }).toString()
    assert.ok(whole.test(text) || message.test(text), text)
    assert.equal(Buffer.byteLength(text), bytes)
  }
})

test('a body that is too short for its format is refused', () => {
  assert.throws(() => bodyOf({ kind: 'json', bytes: 0 }), /no json body of 0 bytes/)
  assert.throws(() => bodyOf({ kind: 'xml', bytes: 3 }), /no xml body of 3 bytes/)
})
