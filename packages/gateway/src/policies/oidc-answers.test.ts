import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { Browser } from './testing/browser.js'
import { startLoginProvider } from './testing/login-provider.js'
import { startSite } from './testing/login-site.js'

test('token responses of real servers are accepted, an ID token from the future is not', async (t) => {
  const provider = await startLoginProvider(t)
  const { url } = await startSite(t, provider)
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'own', alg: 'ES256', use: 'sig' }
  const logIn = async (aheadSeconds: number, status: number, type: object): Promise<string | number> => {
    const browser = new Browser()
    const login = new URL((await browser.ask(`${url}/a`)).headers.get('location')!)
    const now = Math.floor(Date.now() / 1000)
    const idToken = await new SignJWT({ sub: 'ann', nonce: login.searchParams.get('nonce')! })
      .setProtectedHeader({ alg: 'ES256', kid: 'own' })
      .setIssuer(provider.issuer)
      .setAudience('gw')
      .setIssuedAt(now + aheadSeconds)
      .setExpirationTime(now + 7200)
      .sign(privateKey)
    provider.intervene = (req, res) => {
      if (req.url !== '/jwks' && req.url !== '/token') return false
      const tokens = { access_token: 'at', expires_in: 60, id_token: idToken, ...type }
      const answer = gzipSync(JSON.stringify(req.url === '/jwks' ? { keys: [jwk] } : tokens))
      const fields = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
      res.writeHead(req.url === '/jwks' ? 200 : status, fields).end(answer)
      return true
    }
    const query = { code: 'c', state: login.searchParams.get('state')!, iss: provider.issuer }
    const response = await browser.ask(`${provider.redirectUri}?${new URLSearchParams(query)}`)
    return response.headers.get('location') ?? response.status
  }
  const page = `${url}/a`
  for (const [aheadSeconds, status, type, expected] of [
    [0, 200, { token_type: 'Bearer' }, page],
    [0, 201, { token_type: 'BearerToken' }, page],
    [0, 201, {}, page],
    [0, 200, { token_type: 'DPoP' }, 503],
    [0, 202, { token_type: 'Bearer' }, 503],
    [590, 200, {}, page],
    [3600, 200, {}, 503],
  ] as const)
    assert.equal(
      await logIn(aheadSeconds, status, type),
      expected,
      `${aheadSeconds} ${status} ${JSON.stringify(type)}`,
    )
})
