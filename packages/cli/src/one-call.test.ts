import assert from 'node:assert/strict'
import { type KeyObject, sign } from 'node:crypto'
import http from 'node:http'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { keyPair } from '@sluice/core/testing'
import { PEOPLE, person, Slapd, slapdSkip } from '@sluice/policies/testing/slapd'
import { origin, startGateway, until } from './testing.js'

const REQUESTS = 1000
/** On a busy machine, a worker may not reach the supervisor in time and then fetches for itself, so there are several issuers. */
const ISSUERS = [0, 1, 2, 3]
/** Of the other server: so long its answer is waited for. */
const ANSWER_MS = 300

test(`${REQUESTS} requests with the same external call share one call across workers`, async (t) => {
  const calls: string[] = []
  const keys = [keyOf('a')]
  const answers: Readonly<Record<string, (issuer: string) => object | string>> = {
    '/introspect': () => ({ active: true, sub: 'ann' }),
    '/decide': () => ({}),
    '/.well-known/openid-configuration': (issuer) => ({ issuer, jwks_uri: `${issuer}/keys` }),
    '/keys': () => ({ keys: keys.map(({ jwk }) => jwk) }),
    '/garbage': () => '<html>',
  }
  const server = await origin(t, async (req, res) => {
    const path = req.url!.split('?')[0]!
    calls.push(path)
    await delay(ANSWER_MS)
    res.setHeader('content-type', 'application/json')
    const [, issuer = '', name = ''] = /^(\/\d)?(\/.*)$/.exec(path)!
    res.end(JSON.stringify(answers[name]?.(server + issuer)))
  })
  const callsOf = (...paths: readonly string[]): string[] => calls.filter((path) => paths.includes(path))
  const slapd =
    slapdSkip === false ? await Slapd.start(['ann', 'bob'].map((uid) => person(uid, 'secret'))) : null
  t.after(() => slapd?.stop())
  const patience = 'timeouts: { connect: 60s, operation: 60s }, cache: { ttl: 1h, negativeTtl: 1h }'
  const gateway = await startGateway(
    t,
    `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 3
routes:
  - id: token
    match: { path: /token }
    policies:
      - use: oauth2-introspection
        with: { url: "${server}/introspect", timeout: 20s, clientId: gw, clientSecret: "\${env:CLIENT_SECRET}" }
    respond: { body: "ok" }
  - id: decision
    match: { path: /decision }
    policies: [{ use: forward-auth, with: { url: "${server}/decide", timeout: 20s, cache: { ttl: 1h } } }]
    respond: { body: "ok" }
${ISSUERS.map(
  (issuer) => `  - id: keys-${issuer}
    match: { path: /keys/${issuer} }
    policies: [{ use: jwt, with: { jwks: { discovery: "${server}/${issuer}", timeout: 20s } } }]
    respond: { body: "ok" }
`,
).join('')}  - id: garbage
    match: { path: /garbage }
    policies: [{ use: jwt, with: { jwks: { url: "${server}/garbage", timeout: 20s } } }]
    respond: { body: "ok" }
  - id: login
    match: { path: /login }
    policies:
      - use: ldap
        with: { urls: ["${slapd?.url ?? 'ldap://127.0.0.1'}"], userDn: "uid={{username}},${PEOPLE}", ${patience} }
    respond: { body: "ok" }
log: { sink: none }
`,
    [],
    { env: { CLIENT_SECRET: 'secret' } },
  )
  const ask = (path: string, authorization = 'Bearer t') => statuses(gateway.url + path, authorization)

  await t.test('about a token, about a request', async () => {
    assert.deepEqual([await ask('/token'), await ask('/decision')], [[200], [200]])
    for (const [path, event] of [
      ['/introspect', 'introspection_store_down'],
      ['/decide', 'forward_auth_store_down'],
    ] as const) {
      // On a busy machine, a worker may not reach the supervisor in time. It then calls for itself, and says so.
      await until(
        () => callsOf(path).length === 1 || gateway.logText().includes(event),
        () => `${callsOf(path).length} calls of ${path}`,
      )
    }
  })

  await t.test('for the keys of an issuer, and once more for a key that is new', async () => {
    const isShared: boolean[] = []
    for (const issuer of ISSUERS) {
      const fetched = [`/${issuer}/.well-known/openid-configuration`, `/${issuer}/keys`]
      const askWith = (key: SigningKey) =>
        ask(`/keys/${issuer}`, `Bearer ${tokenOf(key, `${server}/${issuer}`)}`)
      keys.length = 1
      assert.deepEqual(await askWith(keys[0]!), [200])
      const first = callsOf(...fetched)
      keys.push(keyOf(`new-${issuer}`))
      assert.deepEqual(await askWith(keys[1]!), [200])
      const expected = [...fetched, ...fetched]
      isShared.push(first.length === 2 && isDeepStrictEqual(callsOf(...fetched), expected))
    }
    assert.ok(isShared.includes(true), calls.join(' '))
    assert.deepEqual(await ask('/garbage', `Bearer ${tokenOf(keys[0]!, server)}`), [503])
  })

  await t.test(
    'of a directory, which holds up nobody who is known when it stands still or is gone',
    {
      skip: slapdSkip,
    },
    async () => {
      const askAs = (name: string, password = 'secret') =>
        ask('/login', `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`)
      assert.deepEqual([await askAs('ann'), await askAs('ann', 'wrong')], [[200], [401]])
      process.kill(slapd!.pid, 'SIGSTOP')
      const waiting = askAs('bob')
      await delay(ANSWER_MS)
      assert.deepEqual(await askAs('ann'), [200])
      process.kill(slapd!.pid, 'SIGCONT')
      assert.deepEqual(await waiting, [200])
      const binds = () => [slapd!.bindsOf(`uid=ann,${PEOPLE}`), slapd!.bindsOf(`uid=bob,${PEOPLE}`)]
      // The log comes through a pipe, behind the answers.
      await until(() => binds()[1] !== 0)
      assert.deepEqual(binds(), [2, 1])
      await slapd!.stop()
      assert.deepEqual([await askAs('ann'), await askAs('bob'), await askAs('eve')], [[200], [200], [503]])
    },
  )
})

/** The different answers to many requests, each on a connection of its own. */
async function statuses(url: string, authorization: string): Promise<number[]> {
  const all = await Promise.all(Array.from({ length: REQUESTS }, () => statusOf(url, authorization)))
  return [...new Set(all)]
}

function statusOf(url: string, authorization: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization }
    http.get(url, { agent: false, headers }, (res) => resolve(res.resume().statusCode!)).on('error', reject)
  })
}

interface SigningKey {
  readonly jwk: object
  readonly kid: string
  readonly privateKey: KeyObject
}

function keyOf(kid: string): SigningKey {
  const { publicKey, privateKey } = keyPair('ec', { namedCurve: 'P-256' })
  return { jwk: { ...publicKey.export({ format: 'jwk' }), kid }, kid, privateKey }
}

function tokenOf({ kid, privateKey }: SigningKey, iss: string): string {
  const exp = Math.floor(Date.now() / 1000) + 3600
  const parts = [
    { alg: 'ES256', kid },
    { iss, sub: 'ann', exp },
  ]
  const input = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${input}.${signature.toString('base64url')}`
}
