import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import type net from 'node:net'
import { test } from 'node:test'
import { catalog } from '@sluice/policies'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { serve } from '../document-keys/testing/key-tests.js'
import { until } from '../testing/gateway.js'
import { httpOrigin, rawOrigin } from '../testing/origin.js'

test('slow providers delay only their own requests, and late responses count', async (t) => {
  const held: { readonly name: string; readonly res: ServerResponse }[] = []
  const provider = await httpOrigin(t, (req, res) => {
    req.resume()
    held.push({ name: req.url!.slice(1), res })
  })
  const directory: net.Socket[] = []
  const ldap = await rawOrigin(t, (socket) => void socket.once('data', () => directory.push(socket)))
  const up = await httpOrigin(t, (req, res) => res.end(req.headers.authorization))
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const jwks = JSON.stringify({ keys: [await exportJWK(publicKey)] })
  const token = await new SignJWT({ sub: 'ann' })
    .setProtectedHeader({ alg: 'ES256' })
    .setExpirationTime('1h')
    .sign(privateKey)

  const url = (name: string): string => `${provider.url}/${name}`
  const timeout = '20s'
  const client = { clientId: 'gw', clientSecret: 's', timeout }
  const timeouts = { connect: timeout, operation: timeout }
  const basic = `Basic ${Buffer.from('ann:pw').toString('base64')}`
  const uses: Readonly<Record<string, readonly [policy: object, answer: string, authorization: string]>> = {
    'forward-auth': [{ url: url('forward-auth'), timeout }, '', basic],
    'oauth2-introspection': [
      { url: url('oauth2-introspection'), ...client },
      '{"active":true,"sub":"ann"}',
      'Bearer t',
    ],
    jwt: [{ jwks: { url: url('jwt'), timeout } }, jwks, `Bearer ${token}`],
    'api-call': [{ calls: [{ name: 'c', url: url('api-call'), timeout }] }, '{}', basic],
    'backend-auth': [
      { oauth2: { tokenUrl: url('backend-auth'), ...client } },
      '{"access_token":"secret","token_type":"bearer"}',
      basic,
    ],
    ldap: [
      { urls: [ldap.url.replace('http', 'ldap')], timeouts, userDn: 'uid={{username}},dc=x' },
      '',
      basic,
    ],
  }
  const routes = Object.entries(uses).map(([use, [config]]) => ({
    ...{ id: use, match: { path: `/${use}` }, upstream: 'up', policies: [{ use, with: config }] },
  }))
  const free = { id: 'free', match: { path: '/free' }, respond: { status: 204 } }
  const gateway = await serve(t, { target: up.url, routes: [...routes, free], catalog })
  const ask = async (path: string, authorization: string): Promise<readonly [number, string]> => {
    const response = await fetch(gateway.url + path, { headers: { authorization } })
    return [response.status, await response.text()]
  }
  const waiting = Object.entries(uses).map(([use, [, , authorization]]) => ask(`/${use}`, authorization))
  await until(() => held.length === routes.length - 1 && directory.length === 1)
  const others = await Promise.all(Array.from({ length: 100 }, () => ask('/free', basic)))
  assert.ok(others.every(([status]) => status === 204))
  assert.equal(gateway.plane.inFlight, routes.length)
  for (const { name, res } of held) res.end(uses[name]![1])
  directory[0]!.destroy()
  assert.deepEqual(
    (await Promise.all(waiting)).map(([status, text]) => `${status} ${status === 200 ? text : ''}`),
    [`200 ${basic}`, '200 ', '200 ', `200 ${basic}`, '200 Bearer secret', '503 '],
  )
})
