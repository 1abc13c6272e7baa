import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type BulkItem, readRefusal, refusalOf } from './bulk-item.js'

/** Also what JSON writes with a backslash, halves of surrogate pairs, and reasons that are too long. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc
    .array(fc.constantFrom('"', '\\', '\n', 'é', '\ud83d', '\ud83d\ude00', '},{'), { maxLength: 5 })
    .map((parts) => parts.join('')),
  fc.string({ minLength: 240, maxLength: 260 }),
)
const error = fc.record(
  { type: text, reason: text, caused_by: fc.record({ reason: text }) },
  { requiredKeys: ['type', 'reason'] },
)
const item = error.map((error): BulkItem => ({ create: { status: 400, error } }))

test('what an item says is the same whether its texts are taken from its JSON or read, and JSON again', () => {
  fc.assert(
    fc.property(item, (item) => {
      const reported = readRefusal(JSON.stringify(item), 3, 400)
      const { index, status, type, reason } = reported
      assert.deepEqual({ index, status, type, reason }, refusalOf(item, 3, 400))
      if (reported.json !== undefined) assert.deepEqual(JSON.parse(`{${reported.json}}`), { type, reason })
    }),
    { numRuns: 500 },
  )
})

test('the usual refusal is not read', () => {
  const reason = "failed to parse field [n] of type [long]. Preview of field's value: 'x'"
  const error = { type: 'document_parsing_exception', reason, caused_by: { reason: 'For input string: "x"' } }
  assert.equal(
    readRefusal(JSON.stringify({ create: { status: 400, error } }), 0, 400).json,
    `"type":"document_parsing_exception","reason":"${reason}: For input string: \\"x\\""`,
  )
})

test('an item of any length is read', () => {
  const error = { type: 't', reason: '\n'.repeat(5_000_000) }
  const { type, reason } = readRefusal(JSON.stringify({ create: { status: 400, error } }), 0, 400)
  assert.deepEqual([type, reason], ['t', '\n'.repeat(500)])
})

test('what is no JSON is not taken for it', () => {
  const whole = '{"create":{"status":400,"error":{"type":"a","reason":"b"}}}'
  assert.equal(readRefusal(whole, 0, 400).reason, 'b')
  for (const reason of ['\n', '\\x41', '\\u12', '\\', '"', '\u0000']) {
    assert.throws(
      () => readRefusal(whole.replace('"b"', `"${reason}"`), 0, 400),
      SyntaxError,
      JSON.stringify(reason),
    )
  }
  for (const json of [whole.slice(0, -1), `${whole}}`, `${whole},`]) {
    assert.throws(() => readRefusal(json, 0, 400), SyntaxError, json)
  }
})
