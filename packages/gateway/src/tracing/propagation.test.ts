import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PROPAGATIONS } from './propagation.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const CALLER = { traceId: TRACE, spanId: SPAN, isSampled: true, state: '' }
const { tracecontext, b3, b3multi } = PROPAGATIONS

test('a repeated traceparent is invalid, and so is a missing one', () => {
  const field = ['traceparent', `00-${TRACE}-${SPAN}-01`]
  assert.deepEqual(tracecontext.read(field), CALLER)
  assert.equal(tracecontext.read([...field, ...field]), null)
  assert.equal(tracecontext.read(['tracestate', 'a=1']), null)
})

test('tracestate is passed on if it is valid', () => {
  const stateOf = (...lines: string[]): string | undefined =>
    tracecontext.read([
      ...['traceparent', `00-${TRACE}-${SPAN}-01`],
      ...lines.flatMap((line) => ['tracestate', line]),
    ])?.state
  for (const good of [
    'a=1',
    'a=1,b=2',
    'a=1 , b=2,',
    ' a=1\t,\t,',
    '0tenant@vendor=x:y;z',
    `a=${'x'.repeat(256)}`,
  ])
    assert.equal(stateOf(good), good)
  assert.equal(stateOf('a=1', 'b=2'), 'a=1, b=2')
  const many = Array.from({ length: 33 }, (_, i) => `k${i}=1`).join()
  for (const bad of [
    'a',
    'A=1',
    'a=1,a=2',
    'a=é',
    'a=1=2',
    many,
    `a=${'x'.repeat(257)}`,
    `${'a'.repeat(9000)}`,
  ])
    assert.equal(stateOf(bad), '', bad.slice(0, 20))
})

test('a tracestate of spaces takes no longer than another one', () => {
  const cpuOf = (state: string): number => {
    const fields = ['traceparent', `00-${TRACE}-${SPAN}-01`, 'tracestate', state]
    const start = process.cpuUsage()
    for (let i = 0; i < 20; i++) assert.equal(tracecontext.read(fields)?.state, '')
    const { user, system } = process.cpuUsage(start)
    return user + system
  }
  // 2,000 times as long if the spaces are matched in quadratic time.
  assert.ok(cpuOf(`a=1,${' '.repeat(4000)}!`) < 100 * Math.max(1000, cpuOf('!'.repeat(4000))))
})

test('b3 in one field is read with and without a decision', () => {
  assert.deepEqual(b3.read(['b3', `${TRACE}-${SPAN}-1`]), CALLER)
  assert.deepEqual(b3.read(['b3', `${TRACE}-${SPAN}-d-${SPAN}`]), CALLER)
  assert.deepEqual(b3.read(['b3', `${TRACE}-${SPAN}-0`]), { ...CALLER, isSampled: false })
  assert.deepEqual(b3.read(['b3', `${TRACE}-${SPAN}`]), { ...CALLER, isSampled: null })
  const short = { ...CALLER, traceId: `${'0'.repeat(16)}${SPAN}` }
  assert.deepEqual(b3.read(['b3', `${SPAN}-${SPAN}-1`]), short)
  assert.deepEqual(b3.read(['b3', '0']), { traceId: '', spanId: '', isSampled: false, state: '' })
  const zeros = '0'.repeat(16)
  for (const bad of [
    ...['', '1', TRACE, `${TRACE}-`, `${TRACE.toUpperCase()}-${SPAN}-1`, `${TRACE}-${SPAN}-2`],
    ...[`${TRACE}-${SPAN}-1-x`, `${TRACE}-${SPAN}-1-${SPAN}-`, `${zeros}-${SPAN}-1`, `${TRACE}-${zeros}-1`],
  ])
    assert.equal(b3.read(['b3', bad]), null, bad)
})

test('b3 in several fields is read with and without a decision', () => {
  const ids = ['x-b3-traceid', TRACE, 'x-b3-spanid', SPAN]
  assert.deepEqual(b3multi.read([...ids, 'x-b3-sampled', '1']), CALLER)
  assert.deepEqual(b3multi.read([...ids, 'x-b3-flags', '1']), CALLER)
  assert.deepEqual(b3multi.read([...ids, 'x-b3-sampled', '0', 'x-b3-parentspanid', SPAN]), {
    ...CALLER,
    isSampled: false,
  })
  assert.deepEqual(b3multi.read(ids), { ...CALLER, isSampled: null })
  assert.deepEqual(b3multi.read(['x-b3-sampled', '0']), {
    ...{ traceId: '', spanId: '', isSampled: false, state: '' },
  })
  for (const bad of [
    ...[ids.slice(0, 2), ids.slice(2), [...ids, ...ids], ['x-b3-sampled', '1']],
    ...[
      [...ids, 'x-b3-sampled', 'true'],
      [...ids, 'x-b3-parentspanid', 'x'],
    ],
  ])
    assert.equal(b3multi.read(bad), null, bad.join())
})
