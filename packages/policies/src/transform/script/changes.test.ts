import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ScriptFault } from '../../engines/script/engine.js'
import { changesOf } from './changes.js'

const NOTHING = { headers: [], query: [], vars: [], status: null, body: null, reply: null, log: [] }

test('unchanged values are not in the changes', () => {
  assert.deepEqual(changesOf('{}\n', 'request', 10), NOTHING)
})

test('any sandbox result is either valid changes or a fault', () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom('set', 'append', 'remove', 'x-a', 'host', 'a\r\nb: c', '\0'),
  )
  const anything = fc.oneof(
    fc.array(text),
    fc.dictionary(text, fc.option(text)),
    fc.integer(),
    fc.jsonValue(),
  )
  const head = fc.record(
    { headers: anything, query: anything, vars: anything, status: anything, reply: anything, log: anything },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(head, fc.string(), fc.boolean(), (made, body, hasBody) => {
      try {
        const changes = changesOf(`${JSON.stringify({ ...made, hasBody })}\n${body}`, 'response', 1000)
        for (const { name, value } of changes.headers) {
          assert.match(name, /^[!#$%&'*+.^_`|~0-9a-z-]+$/)
          assert.match(value, /^[\t -~]*$/)
        }
        for (const field of changes.reply?.headers ?? []) assert.match(field, /^[\t -~]*$/)
      } catch (error) {
        if (!(error instanceof ScriptFault)) throw error
      }
    }),
    { numRuns: 500 },
  )
})

test('changes are bounded in number and size', () => {
  const fields = Array.from({ length: 201 }, (_, i) => ['append', `x-${i}`, '']).flat()
  for (const [head, body] of [
    [{ headers: fields }, ''],
    [{ query: fields }, ''],
    [{ query: ['set', 'a', 'x'.repeat(8193)] }, ''],
    [{ query: ['set', 'x'.repeat(257), ''] }, ''],
    [{ query: ['drop', 'a', ''] }, ''],
    [{ vars: { a: 1 } }, ''],
    [{ log: ['x'.repeat(2 * 1024 * 1024)] }, ''],
    [{ hasBody: true }, 'ü'.repeat(6)],
    [[], ''],
  ] as const) {
    assert.throws(() => changesOf(`${JSON.stringify(head)}\n${body}`, 'request', 10), ScriptFault)
  }
  assert.throws(() => changesOf('no line', 'request', 10), ScriptFault)
})
