import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFieldValue, isToken } from '../http/http-syntax.js'
import { ERRORS, type ErrorCode, statusOf } from './errors.js'
import { answer, refusal, substitute } from './reply.js'

const CODES = Object.keys(ERRORS) as ErrorCode[]

test('a refusal has the status and title of its code, and x-gw-error', () => {
  for (const code of CODES) {
    const reply = refusal(code, 'do this', ['retry-after', '1'])
    assert.equal(reply.status, statusOf(code))
    assert.deepEqual(reply.headers, ['x-gw-error', code, 'retry-after', '1'])
    assert.deepEqual(reply.problem, { code, title: ERRORS[code].title, detail: 'do this' })
    assert.equal(reply.body, null)
  }
})

test('every error code is unique and has an error status and a title', () => {
  for (const code of CODES) {
    assert.match(code, /^GW_[A-Z]+(_[A-Z]+)*$/)
    assert.ok(isToken(code))
    const { status, title } = ERRORS[code]
    assert.ok(status >= 400 && status <= 599, code)
    assert.ok(title.length > 0 && isFieldValue(title), code)
  }
  const titles = CODES.map((code) => ERRORS[code].title)
  assert.equal(new Set(titles).size, titles.length, 'two codes have one title')
})

test('an answer has no problem', () => {
  const body = new Uint8Array([1])
  const expected = { status: 200, headers: ['a', 'b'], body, problem: null, isSubstitute: false }
  assert.deepEqual(answer(200, ['a', 'b'], body), expected)
  assert.deepEqual(substitute(200, ['a', 'b'], body), { ...expected, isSubstitute: true })
})
