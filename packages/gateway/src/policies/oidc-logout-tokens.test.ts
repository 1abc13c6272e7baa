import assert from 'node:assert/strict'
import { createHmac, createSign, randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { loadOrThrow } from '@sluice/config/testing'
import { keyPair } from '@sluice/core/testing'
import { catalog } from '@sluice/policies'
import { httpOrigin } from '../testing/origin.js'
import { startLogged } from '../testing/traffic-records.js'
import { ask, errorOf } from './testing/browser.js'

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const { publicKey, privateKey } = keyPair('rsa', { modulusLength: 2048 })
const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** Returns a token signed by the issuer. */
function signed(claims: object, header: object = {}): string {
  const input = `${encoded({ alg: 'RS256', kid: 'one', typ: 'logout+jwt', ...header })}.${encoded(claims)}`
  return `${input}.${createSign('RSA-SHA256').update(input).sign(privateKey, 'base64url')}`
}

/** Starts an issuer with one key, and a gateway that accepts its logout tokens. */
async function startReceiver(t: TestContext) {
  const origin = await httpOrigin(t, (req, res) => {
    const endpoints = { authorization_endpoint: `${origin.url}/a`, token_endpoint: `${origin.url}/t` }
    const metadata = { issuer: origin.url, jwks_uri: `${origin.url}/keys`, ...endpoints }
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify(req.url === '/keys' ? { keys: [jwk] } : metadata))
  })
  const policy = {
    use: 'oidc-backchannel-logout',
    with: { issuer: origin.url, clientId: 'gw', timeout: '20s' },
  }
  const { plan } = loadOrThrow(
    JSON.stringify({ version: 1, routes: [{ id: 'out', respond: { status: 500 }, policies: [policy] }] }),
    catalog,
  )
  const { url, records } = await startLogged(t, { routes: plan.routes }, {}, { catalog })
  const post = (token: string) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }
    return ask(url, {
      method: 'POST',
      headers,
      body: new URLSearchParams({ logout_token: token }).toString(),
    })
  }
  return { issuer: origin.url, post, records }
}

test('a complete logout token is accepted, and other tokens are refused', async (t) => {
  const { issuer, post, records } = await startReceiver(t)
  const now = Math.floor(Date.now() / 1000)
  const claims = (changes: object = {}): object => ({
    ...{ iss: issuer, aud: 'gw', iat: now, exp: now + 120, jti: randomUUID(), sub: 'ann', sid: 's1' },
    events: { [EVENT]: {} },
    ...changes,
  })
  for (const [what, token] of [
    ['all of it', signed(claims())],
    ['a session alone', signed(claims({ sub: undefined }))],
    ['a user alone', signed(claims({ sid: undefined }))],
    ['several audiences', signed(claims({ aud: ['other', 'gw'] }))],
    ['no time of its end, as before the final specification', signed(claims({ exp: undefined }))],
    ['the type of before', signed(claims(), { typ: 'JWT' })],
  ] as const)
    assert.equal((await post(token)).status, 200, what)
  const hmac = (key: string): string => {
    const input = `${encoded({ alg: 'HS256', kid: 'one', typ: 'logout+jwt' })}.${encoded(claims())}`
    return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`
  }
  const whole = signed(claims())
  const [head, , signature] = whole.split('.')
  for (const [what, token] of [
    ['another issuer', signed(claims({ iss: 'https://evil.example' }))],
    ['another client', signed(claims({ aud: 'other' }))],
    ['no audience', signed(claims({ aud: undefined }))],
    ['no event', signed(claims({ events: undefined }))],
    ['an event that is no object', signed(claims({ events: { [EVENT]: true } }))],
    ['events as a text', signed(claims({ events: EVENT }))],
    ['another event', signed(claims({ events: { 'http://other': {} } }))],
    ['a nonce', signed(claims({ nonce: 'n' }))],
    ['an empty nonce', signed(claims({ nonce: null }))],
    ['no id', signed(claims({ jti: undefined }))],
    ['an id without end', signed(claims({ jti: 'x'.repeat(300) }))],
    ['nobody', signed(claims({ sub: undefined, sid: undefined }))],
    ['nobody but numbers', signed(claims({ sub: undefined, sid: 1 }))],
    ['no time', signed(claims({ iat: undefined }))],
    ['an old one', signed(claims({ iat: now - 700, exp: undefined }))],
    ['one of the future', signed(claims({ iat: now + 700 }))],
    ['one that has ended', signed(claims({ exp: now - 120 }))],
    ['the type of access tokens', signed(claims(), { typ: 'at+jwt' })],
    ['no type', signed(claims(), { typ: undefined })],
    ['a critical extension', signed(claims(), { crit: ['x'], x: 1 })],
    ['a key of its own', signed(claims(), { kid: 'two', jwk })],
    ['alg none', `${encoded({ alg: 'none', typ: 'logout+jwt' })}.${encoded(claims())}.`],
    ['the public key as a secret', hmac(publicKey.export({ format: 'pem', type: 'spki' }).toString())],
    ['the modulus as a secret', hmac(String(jwk['n']))],
    ['other claims under a signature', `${head}.${encoded(claims({ sub: 'bob' }))}.${signature}`],
    ['no signature', whole.slice(0, whole.lastIndexOf('.') + 1)],
  ] as const)
    assert.deepEqual(errorOf(await post(token)), [400, 'GW_LOGOUT_TOKEN'], what)
  assert.equal((await post(whole)).status, 200)
  assert.deepEqual(errorOf(await post(whole)), [400, 'GW_LOGOUT_TOKEN'], 'a second time')
  const results = (await records()).map(({ result }) => result)
  assert.equal(results[0], 'success', 'who logs out is not refused')
  assert.equal(results.at(-1), 'blocked')
})
