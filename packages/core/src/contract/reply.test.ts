import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFieldValue, isToken } from '../http/http-syntax.js'
import { declareErrors, type ErrorCode, errorCodes, errorKind, isErrorCode, statusOf } from './errors.js'
import { answer, refusal, substitute } from './reply.js'

const CODES = errorCodes() as ErrorCode[]

test('a refusal has the status and title of its code, and x-gw-error', () => {
  for (const code of CODES) {
    const reply = refusal(code, 'do this', ['retry-after', '1'])
    assert.equal(reply.status, statusOf(code))
    assert.deepEqual(reply.headers, ['x-gw-error', code, 'retry-after', '1'])
    assert.deepEqual(reply.problem, { code, title: errorKind(code).title, detail: 'do this' })
    assert.equal(reply.body, null)
  }
})

test('every error code is unique and has an error status and a title', () => {
  for (const code of CODES) {
    assert.match(code, /^GW_[A-Z]+(_[A-Z]+)*$/)
    assert.ok(isToken(code))
    const { status, title } = errorKind(code)
    assert.ok(status >= 400 && status <= 599, code)
    assert.ok(title.length > 0 && isFieldValue(title), code)
  }
  const titles = CODES.map((code) => errorKind(code).title)
  assert.equal(new Set(titles).size, titles.length, 'two codes have one title')
})

test('an answer has no problem', () => {
  const body = new Uint8Array([1])
  const expected = { status: 200, headers: ['a', 'b'], body, problem: null, isSubstitute: false }
  assert.deepEqual(answer(200, ['a', 'b'], body), expected)
  assert.deepEqual(substitute(200, ['a', 'b'], body), { ...expected, isSubstitute: true })
})

test('a policy declares its own codes, which have one meaning', () => {
  const kind = { status: 418, title: 'Short and stout', when: 'It is a teapot.', remedy: 'Use a coffee pot.' }
  declareErrors({ GW_TEAPOT: kind })
  declareErrors({ GW_TEAPOT: kind })
  assert.ok(isErrorCode('GW_TEAPOT'))
  assert.equal(refusal('GW_TEAPOT' as ErrorCode, 'no coffee').status, 418)
  assert.throws(() => declareErrors({ GW_TEAPOT: { ...kind, title: 'Kettle' } }), /declared twice/)
  assert.throws(() => refusal('GW_KETTLE' as ErrorCode, ''), /GW_KETTLE is not declared/)
})
