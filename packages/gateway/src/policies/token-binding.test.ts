import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import https from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { catalog } from '@sluice/policies'
import { makeCertificate, type Pair } from '@sluice/policies/testing'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { serve } from '../document-keys/testing/key-tests.js'
import { certificateFiles } from '../listen/testing/certificate-files.js'
import { httpOrigin } from '../testing/origin.js'

/** Returns the `cnf` value of a certificate (RFC 8705 section 3.1). */
const thumbprint = ({ der }: Pair): string => createHash('sha256').update(der).digest('base64url')

test('a certificate-bound token requires the certificate, and a key-bound token is refused', async (t) => {
  const authority = makeCertificate({ name: 'Test CA', kind: 'ec', isAuthority: true })
  const [holder, thief] = ['holder', 'thief'].map((name) =>
    makeCertificate({ name, kind: 'ec', issuer: authority }),
  ) as [Pair, Pair]
  const bindings: Readonly<Record<string, unknown>> = {
    none: undefined,
    certificate: { 'x5t#S256': thumbprint(holder) },
    key: { jkt: 'x'.repeat(43) },
    both: { 'x5t#S256': thumbprint(holder), jkt: 'x'.repeat(43) },
    empty: {},
    text: thumbprint(holder),
    list: [{ 'x5t#S256': thumbprint(holder) }],
    short: { 'x5t#S256': '' },
    nothing: null,
  }
  const server = await httpOrigin(t, async (req, res) => {
    let form = ''
    for await (const chunk of req) form += String(chunk)
    const cnf = bindings[new URLSearchParams(form).get('token')!]
    res.end(JSON.stringify({ active: true, sub: 'ann', cnf }))
  })
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const jwt = { use: 'jwt', with: { keys: [{ jwk: JSON.stringify(await exportJWK(publicKey)) }] } }
  const asked = {
    use: 'oauth2-introspection',
    with: { url: server.url, clientId: 'gw', clientSecret: 's', timeout: '20s' },
  }
  const proxy = { use: 'mtls', with: { from: 'xfcc', idFrom: 'fingerprint' } }
  const route = (path: string, ...policies: object[]): object => ({
    ...{ id: path.slice(1), match: { path }, respond: { status: 204 }, policies },
  })
  const files = certificateFiles(t)
  const clientCaFile = join(files.certFile, '../ca.pem')
  writeFileSync(clientCaFile, authority.certificatePem)
  const tls = { ...files, clientCaFile, clientCertificate: 'optional' }
  const { port } = await serve(t, {
    listener: { engine: 'node', tls, trustedProxies: ['127.0.0.0/8'] },
    routes: [
      route('/jwt', jwt),
      route('/asked', asked),
      route('/jwt-proxy', proxy, jwt),
      route('/asked-proxy', proxy, asked),
    ],
    catalog,
  })
  const ask = (path: string, token: string, pair?: Pair, headers: object = {}): Promise<string> =>
    new Promise((resolve, reject) => {
      const own = pair === undefined ? {} : { cert: pair.certificatePem, key: pair.keyPem }
      const at = { port, host: '127.0.0.1', path, agent: false, rejectUnauthorized: false }
      https
        .get({ ...at, ...own, headers: { authorization: `Bearer ${token}`, ...headers } })
        .on('response', (response) =>
          resolve(`${response.resume().statusCode} ${response.headers['x-gw-error'] ?? 'passed'}`),
        )
        .on('error', reject)
    })
  const tokenOf = (kind: string): Promise<string> =>
    new SignJWT({ sub: 'ann', ...(kind !== 'none' && { cnf: bindings[kind] }) })
      .setProtectedHeader({ alg: 'ES256' })
      .setExpirationTime('1h')
      .sign(privateKey)
  const REFUSED = '401 GW_TOKEN_BINDING'
  for (const kind of Object.keys(bindings)) {
    for (const [path, token] of [
      ['/jwt', await tokenOf(kind)],
      ['/asked', kind],
    ] as const) {
      const isBearer = kind === 'none'
      const isHeld = isBearer || kind === 'certificate'
      const expect = async (isTaken: boolean, answer: Promise<string>): Promise<void> =>
        assert.equal(await answer, isTaken ? '204 passed' : REFUSED, `${path} ${kind}`)
      await expect(isHeld, ask(path, token, holder))
      if (!isHeld) continue
      // The response is in the cache by now.
      await expect(isBearer, ask(path, token, thief))
      await expect(isBearer, ask(path, token))
      const saying = (own: Pair | undefined, pair: Pair): Promise<string> => {
        const hash = createHash('sha256').update(pair.der).digest('hex')
        return ask(`${path}-proxy`, token, own, { 'x-forwarded-client-cert': `Hash=${hash}` })
      }
      await expect(true, saying(undefined, holder))
      await expect(isBearer, saying(holder, thief))
    }
  }
})
