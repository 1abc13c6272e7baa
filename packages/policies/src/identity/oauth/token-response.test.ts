import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GrantRefused, readTokenResponse } from './token-response.js'

const RULES = { maxLength: 100, isRefusal: (code: string) => code === 'invalid_grant' }

function read(answer: unknown, status = 200) {
  return readTokenResponse({ status, headers: [], body: Buffer.from(JSON.stringify(answer)) }, RULES)
}

test('a token type that is missing or means a bearer token is one, and no other', () => {
  const bearers = ['', 'bearer', 'Bearer', 'BearerToken', 'bearer_token', 'Bearer Token', 'JWT']
  for (const type of [undefined, null, ...bearers])
    assert.equal(read({ access_token: 'a', token_type: type }).accessToken, 'a', String(type))
  for (const type of ['mac', 'DPoP', 'pop', 'N_A', 'bearerx', 1, true, {}, ['bearer']])
    assert.throws(
      () => read({ access_token: 'a', token_type: type }),
      /not a bearer token/,
      JSON.stringify(type),
    )
})

test('200 and 201 issue a token', () => {
  for (const status of [200, 201]) assert.equal(read({ access_token: 'a' }, status).accessToken, 'a')
  for (const status of [202, 204, 302, 400])
    assert.throws(() => read({ access_token: 'a' }, status), {
      message: /^the token endpoint responded with /,
    })
})

test('tokens that a header cannot carry are refused, and the lifetime may be a text', () => {
  for (const token of ['', 'a\nb', 'a'.repeat(101), 1])
    assert.throws(() => read({ access_token: token }), /unusable 'access_token'/)
  assert.throws(() => read({}), /no access token/)
  assert.throws(() => read([]), /JSON object/)
  for (const [written, lifeMs] of [
    [60, 60_000],
    ['60', 60_000],
    ['soon', null],
    [undefined, null],
  ] as const)
    assert.equal(read({ access_token: 'a', expires_in: written }).lifeMs, lifeMs)
})

test('an error names its code but nothing else of the response', () => {
  const error = { error: 'invalid_grant', error_description: 'secret' }
  assert.throws(
    () => read(error, 400),
    (thrown) => {
      assert.ok(thrown instanceof GrantRefused)
      assert.equal(thrown.message, 'the token endpoint responded with 400 (invalid_grant)')
      return true
    },
  )
  assert.throws(
    () => read({ error: 'invalid_client' }, 401),
    (thrown) => !(thrown instanceof GrantRefused),
  )
  assert.throws(() => read({ error: 'A secret' }, 401), { message: 'the token endpoint responded with 401' })
})
