import assert from 'node:assert/strict'
import { createSign } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { MemoryStore, StateUnavailable } from '@sluice/core'
import { keyPair } from '@sluice/core/testing'
import { exchange, testEnv } from '../../testing.js'
import { oidcBackchannelLogout } from './policy.js'

const { publicKey, privateKey } = keyPair('rsa', { modulusLength: 2048 })
const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }

/** An issuer with one key. */
async function issuerOf(t: TestContext): Promise<string> {
  const server = http.createServer((req, res) => {
    const metadata = { issuer, jwks_uri: `${issuer}/keys`, authorization_endpoint: `${issuer}/a` }
    res.end(JSON.stringify(req.url === '/keys' ? { keys: [jwk] } : metadata))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return issuer
}

function logoutToken(issuer: string): string {
  const now = Math.floor(Date.now() / 1000)
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const claims = { iss: issuer, aud: 'gw', iat: now, exp: now + 120, jti: 'j', sub: 'ann', events }
  const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const input = `${encoded({ alg: 'RS256', kid: 'one', typ: 'logout+jwt' })}.${encoded(claims)}`
  return `${input}.${createSign('RSA-SHA256').update(input).sign(privateKey, 'base64url')}`
}

/** A store whose first write of an ended session fails. */
class FailingOnce extends MemoryStore {
  #hasFailed = false

  override set(...args: Parameters<MemoryStore['set']>): Promise<boolean> {
    if (this.#hasFailed || !args[0].startsWith('session-ended')) return super.set(...args)
    this.#hasFailed = true
    return Promise.reject(new StateUnavailable('down'))
  }
}

test('a logout that could not be stored succeeds when the provider retries with the same token', async (t) => {
  const issuer = await issuerOf(t)
  const env = testEnv(new Map<string, unknown>([['state', new FailingOnce()]]))
  t.after(() => env.close())
  const step = await oidcBackchannelLogout.compile({ issuer, clientId: 'gw' }, env)
  const body = Buffer.from(new URLSearchParams({ logout_token: logoutToken(issuer) }).toString())
  const statuses: (number | undefined)[] = []
  for (let i = 0; i < 3; i++) statuses.push((await step!.onRequestBody!(exchange({}), body))?.status)
  assert.deepEqual(statuses, [503, 200, 400])
})
