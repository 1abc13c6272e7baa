import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isBearerType, isIssued } from './token-answer.js'

test('a token type that is missing or means a bearer token is one, and no other', () => {
  for (const type of [
    undefined,
    null,
    '',
    'bearer',
    'Bearer',
    'BearerToken',
    'bearer_token',
    'Bearer Token',
    'JWT',
  ])
    assert.ok(isBearerType(type), String(type))
  for (const type of ['mac', 'DPoP', 'pop', 'N_A', 'bearerx', 1, true, {}, ['bearer']])
    assert.ok(!isBearerType(type), JSON.stringify(type))
})

test('200 and 201 issue a token', () => {
  assert.deepEqual([200, 201, 202, 204, 302, 400].map(isIssued), [true, true, false, false, false, false])
})
