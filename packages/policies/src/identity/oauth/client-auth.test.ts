import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyPair } from '@sluice/core/testing'
import { type ClientAuthConfig, compileClientCalls } from './client-auth.js'

const ENDPOINT = 'https://login.example.com/token'
const { privateKey } = keyPair('ec', { namedCurve: 'P-256' })
const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))

async function formOf(config: Omit<ClientAuthConfig, 'clientId' | 'algorithm'>): Promise<URLSearchParams> {
  const build = compileClientCalls({ clientId: 'gw', algorithm: 'ES256', ...config }, ENDPOINT)
  return new URLSearchParams(Buffer.from((await build({})).body!).toString())
}

test('the audience of an assertion is the endpoint or the configured one', async () => {
  const issuer = 'https://login.example.com'
  for (const [own, expected] of [
    [{}, ENDPOINT],
    [{ assertionAudience: issuer }, issuer],
  ] as const) {
    const form = await formOf({ clientAuth: 'private-key-jwt', privateKey: pem, ...own })
    const [, claims = ''] = form.get('client_assertion')!.split('.')
    assert.equal(JSON.parse(Buffer.from(claims, 'base64url').toString()).aud, expected)
  }
})

test('a client that has a certificate names itself, and one without is refused', async () => {
  const certificate = { certFile: 'client.pem' }
  assert.equal((await formOf({ clientAuth: 'tls', tls: certificate })).get('client_id'), 'gw')
  for (const tls of [undefined, {}])
    await assert.rejects(formOf({ clientAuth: 'tls', ...(tls && { tls }) }), /needs 'tls.certFile'/)
})
