import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageReader } from './checked-stream.js'
import { checkedMessage, messageLength } from './message-check.js'

function tlv(tag: number, ...contents: readonly (Buffer | string)[]): Buffer {
  const content = Buffer.concat(contents.map((each) => Buffer.from(each)))
  assert.ok(content.length < 65_536)
  const head = content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 255]
  return Buffer.concat([Buffer.from([tag, ...head]), content])
}

const ID = tlv(2, '\x01')
const text = (value: string): Buffer => tlv(4, value)
const result = (tag: number, code = 0, ...more: readonly Buffer[]): Buffer =>
  tlv(tag, tlv(10, Buffer.from([code])), text(''), text('words'), ...more)
const attribute = (name: string, ...values: readonly string[]): Buffer =>
  tlv(0x30, text(name), tlv(0x31, ...values.map(text)))
const entry = (...attributes: readonly Buffer[]): Buffer => tlv(0x64, text('uid=a'), tlv(0x30, ...attributes))
const message = (...parts: readonly Buffer[]): Buffer => tlv(0x30, ...parts)

test('valid responses pass, without controls and without data after a result', () => {
  for (const response of [
    result(0x61, 49),
    result(0x65),
    result(0x78),
    entry(),
    tlv(0x73, text('ldap://a')),
  ]) {
    const plain = checkedMessage(message(ID, response))
    assert.ok(plain !== null)
    assert.deepEqual(checkedMessage(message(ID, response, tlv(0xa0, tlv(0x30, text('1.2'))))), plain)
  }
  const full = entry(attribute('cn', 'x', 'y'), attribute('empty'), attribute('long', 'z'.repeat(300)))
  assert.ok(checkedMessage(message(ID, full)) !== null)
  const saslAndReferral = result(0x61, 0, tlv(0xa3, text('ldap://b')), tlv(0x87, 'x'))
  assert.deepEqual(checkedMessage(message(ID, saslAndReferral)), checkedMessage(message(ID, result(0x61))))
})

test('malformed messages do not pass', () => {
  const bad: readonly Buffer[] = [
    Buffer.alloc(0),
    message(),
    message(ID),
    message(result(0x61), ID),
    message(tlv(2, ''), result(0x61)),
    message(tlv(2, '\x01\x02\x03\x04\x05'), result(0x61)),
    message(ID, result(0x60)),
    message(ID, result(0x77)),
    message(ID, result(0x61), text('x')),
    message(ID, result(0x61), tlv(0xa0), tlv(0xa0)),
    message(ID, tlv(0x61, tlv(10, ''), text(''), text(''))),
    message(ID, tlv(0x61, tlv(10, '\0'), text(''))),
    message(ID, tlv(0x61, tlv(10, '\0'), tlv(0x30), text(''))),
    message(ID, tlv(0x64, text('uid=a'))),
    message(ID, tlv(0x64, text('uid=a'), text('xx'))),
    message(ID, entry(text('cn'))),
    message(ID, entry(tlv(0x30, text('cn'), text('x')))),
    message(ID, entry(tlv(0x30, text('cn'), tlv(0x31, tlv(0x30, text('x')))))),
    message(ID, tlv(0x73)),
    // A value that is longer than what holds it: the client library asks for it for ever.
    message(ID, entry(tlv(0x30, text('cn'), tlv(0x31, Buffer.from([4, 100, 65]))))),
    message(ID, tlv(0x73, Buffer.from([4, 0x84, 0x7f, 0xff, 0xff, 0xff]))),
    message(ID, tlv(0x61, Buffer.from([10, 0x80, 0]), text(''), text(''))),
    Buffer.concat([message(ID, result(0x61)), Buffer.from([0])]),
  ]
  for (const bytes of bad) assert.equal(checkedMessage(bytes), null, bytes.toString('hex'))
  const good = message(ID, entry(attribute('cn', 'x')))
  for (let i = 0; i < good.length; i++) {
    for (const byte of [0, 0x30, 0x7f, 0x80, 0x84, 0xff]) {
      const changed = Buffer.from(good)
      changed[i] = byte
      const checked = checkedMessage(changed)
      if (checked !== null) assert.ok(checkedMessage(checked) !== null)
    }
  }
})

test('messages are found however their bytes arrive, and no more than one may be held', () => {
  const one = message(ID, result(0x61))
  const two = message(ID, entry(attribute('cn', 'x'.repeat(500))))
  const all = Buffer.concat([one, two, one])
  for (const step of [1, 2, 3, 7, 100, all.length]) {
    const reader = new MessageReader()
    let found = 0
    for (let at = 0; at < all.length; at += step)
      found += [...reader.take(all.subarray(at, at + step))].length
    assert.deepEqual([found, reader.rest], [3, 0], `by ${step}`)
  }
  assert.throws(() => [...new MessageReader().take(Buffer.from('HTTP/1.1 400'))], /invalid LDAP message/)
  assert.throws(() => [...new MessageReader().take(Buffer.from([0x30, 0x84, 0x7f, 0, 0, 0]))], /too long/)
  assert.throws(
    () => [...new MessageReader().take(Buffer.from([0x30, 0x80, 0, 0, 0, 0]))],
    /invalid LDAP message/,
  )
  assert.equal(messageLength(Buffer.from([0x30, 0x84, 0])), 0)
})
