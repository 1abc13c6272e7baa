import assert from 'node:assert/strict'
import { verify } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { loadOrThrow } from '@sluice/config/testing'
import { keyPair } from '@sluice/core/testing'
import { catalog, hashKey } from '@sluice/policies'
import { startGateway, until } from '../testing/gateway.js'
import { callee, json } from './testing/calling-gateway.js'

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'

/** Starts a backend that reports the received token, and a gateway that authenticates to it. */
async function gatewayWith(t: TestContext, oauth2: object, more: { before?: string; behind?: string } = {}) {
  const backend = await callee(t, (res, req) => res.end(req.headers.authorization ?? 'nothing'))
  const settings = { clientId: 'sluice', clientSecret: 'secret', timeout: '20s', ...oauth2 }
  const policy = JSON.stringify({ use: 'backend-auth', with: { oauth2: settings } })
  const policies = [more.before, policy, more.behind].filter((each) => each !== undefined).join(', ')
  const text = `version: 1\nupstreams: { up: { targets: ['${backend.url}'] } }\nroutes: [{ id: a, upstream: up, policies: [${policies}] }]\n`
  const { plan } = loadOrThrow(text, catalog)
  const gateway = await startGateway(
    t,
    { upstreams: [{ urls: [backend.url] }], routes: plan.routes },
    { catalog },
  )
  const send = async (headers: Readonly<Record<string, string>>) => {
    const response = await fetch(gateway.url, { headers })
    return [response.status, await response.text(), response.headers.get('x-gw-error')] as const
  }
  return { backend, gateway, send }
}

/** Starts an authorization server that issues `for-SUBJECT-N`, and refuses the subject `bad`. */
async function exchangeServer(t: TestContext) {
  const forms: URLSearchParams[] = []
  const server = await callee(t, (res) => {
    const form = new URLSearchParams(server.calls.at(-1)!.body)
    forms.push(form)
    const subject = form.get('subject_token') ?? form.get('assertion') ?? ''
    if (subject === 'bad') res.writeHead(400).end('{"error":"invalid_request"}')
    else if (subject === 'denied') res.writeHead(401).end('{"error":"invalid_client"}')
    else json({ access_token: `for-${subject.slice(0, 9)}-${forms.length}`, expires_in: 3600 })(res)
  })
  return { forms, url: `${server.url}/token` }
}

test("each client's token is exchanged once, and the results are kept apart", async (t) => {
  const server = await exchangeServer(t)
  const own = {
    tokenUrl: server.url,
    grant: 'token-exchange',
    audience: 'orders',
    resource: 'https://orders.example.com',
  }
  // The policy that authenticates the client removes its token before the backend sees the request.
  const strip = '{ use: header, with: { request: { remove: [authorization] } } }'
  const { backend, send } = await gatewayWith(t, own, { behind: strip })
  const as = (token: string) => send({ authorization: `Bearer ${token}` })
  assert.deepEqual(await as('ann'), [200, 'Bearer for-ann-1', null])
  assert.deepEqual(await Promise.all([as('bob'), as('bob'), as('ann')]), [
    ...[200, 200].map((status) => [status, 'Bearer for-bob-2', null]),
    [200, 'Bearer for-ann-1', null],
  ])
  assert.deepEqual(Object.fromEntries(server.forms[0]!), {
    ...{ grant_type: EXCHANGE, subject_token: 'ann', subject_token_type: ACCESS_TOKEN },
    ...{ audience: 'orders', resource: 'https://orders.example.com' },
  })
  const seen = backend.calls.length
  assert.deepEqual((await send({}))[2], 'GW_AUTH_MISSING')
  assert.deepEqual((await send({ authorization: 'Basic YTpi' }))[2], 'GW_AUTH_MISSING')
  assert.deepEqual([(await as('bad'))[0], (await as('bad'))[2]], [401, 'GW_AUTH_INVALID'])
  assert.deepEqual([(await as('denied'))[0], (await as('denied'))[2]], [503, 'GW_UPSTREAM_CREDENTIALS'])
  assert.equal(server.forms.length, 4, 'what was refused is not asked for again at once')
  assert.equal(backend.calls.length, seen)
})

test('the token can be in another header and of another type', async (t) => {
  const server = await exchangeServer(t)
  const types = { subjectTokenType: 'urn:x:a', requestedTokenType: 'urn:x:b' }
  const own = {
    tokenUrl: server.url,
    grant: 'token-exchange',
    subjectHeader: 'X-Token',
    clientAuth: 'post',
    ...types,
  }
  const { backend, send } = await gatewayWith(t, own)
  assert.deepEqual(await send({ 'x-token': 'ann', x_token: 'ann' }), [200, 'Bearer for-ann-1', null])
  const { headers } = backend.calls[0]!
  assert.deepEqual(
    [headers['x-token'], headers['x_token']],
    [undefined, undefined],
    'it is not for the backend',
  )
  const { secretNames } = catalog.get('backend-auth')!
  assert.deepEqual(secretNames?.({ oauth2: own } as never), ['X-Token'], 'nor for the log')
  const form = server.forms[0]!
  assert.deepEqual([form.get('subject_token_type'), form.get('requested_token_type')], ['urn:x:a', 'urn:x:b'])
  assert.deepEqual([form.get('client_id'), form.get('client_secret')], ['sluice', 'secret'])
})

test("the assertion is the client's token, or one signed by the gateway for a consumer", async (t) => {
  const server = await exchangeServer(t)
  const passing = await gatewayWith(t, { tokenUrl: server.url, grant: 'jwt-bearer' })
  assert.deepEqual(await passing.send({ authorization: 'bearer ann' }), [200, 'Bearer for-ann-1', null])
  assert.deepEqual(Object.fromEntries(server.forms[0]!), { grant_type: JWT_BEARER, assertion: 'ann' })

  const { privateKey, publicKey } = keyPair('ec', { namedCurve: 'P-256' })
  const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const assertion = {
    ...{ issuer: 'gateway', subject: '{{consumer.id}}', audience: 'https://as.example.com', keyId: 'k1' },
    ...{ claims: { tenant: 'acme' }, privateKey: pem },
  }
  const keys = ['ann', 'bob'].map((id) => ({ id, sha256: hashKey(`key-${id}`) }))
  const before = JSON.stringify({ use: 'api-key', with: { keys } })
  const signing = await gatewayWith(t, { tokenUrl: server.url, grant: 'jwt-bearer', assertion }, { before })
  const tokens: string[] = []
  for (const id of ['ann', 'bob', 'ann']) tokens.push((await signing.send({ 'x-api-key': `key-${id}` }))[1])
  assert.deepEqual([tokens[0] === tokens[2], tokens[0] === tokens[1], server.forms.length], [true, false, 3])
  const [header = '', claims = '', signature = ''] = server.forms[1]!.get('assertion')!.split('.')
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' as const }
  assert.ok(verify('sha256', Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url')))
  const read = JSON.parse(Buffer.from(claims, 'base64url').toString())
  assert.deepEqual(
    [read.iss, read.sub, read.aud, read.tenant],
    ['gateway', 'ann', 'https://as.example.com', 'acme'],
  )
  assert.ok(read.exp - read.iat === 60)
})

test('tokens refused with 403 are replaced if configured, and the cache is limited', async (t) => {
  const server = await exchangeServer(t)
  const own = { tokenUrl: server.url, grant: 'token-exchange', refreshOn: [403], maxSubjects: 1 }
  const { backend, send } = await gatewayWith(t, own)
  const as = (token: string) => send({ authorization: `Bearer ${token}` })
  assert.equal((await as('ann'))[1], 'Bearer for-ann-1')
  backend.answer = (res, req) => {
    if (req.headers.authorization === 'Bearer for-ann-1') res.writeHead(403).end()
    else res.end(req.headers.authorization)
  }
  assert.equal((await as('ann'))[1], 'Bearer for-ann-2')
  await as('bob')
  assert.equal((await as('ann'))[1], 'Bearer for-ann-4', 'bob has taken its place')
})

test('a token is replaced before it expires', async (t) => {
  let n = 0
  const server = await callee(t, (res) => json({ access_token: `t${++n}` })(res))
  const own = { tokenUrl: server.url, defaultTtl: '300ms', refreshBefore: '1h' }
  const { send } = await gatewayWith(t, own)
  assert.equal((await send({}))[1], 'Bearer t1')
  await until(async () => (await send({}))[1] !== 'Bearer t1')
})

test('token responses of real servers are accepted', async (t) => {
  for (const [status, type, expected] of [
    [200, { token_type: 'BearerToken' }, 200],
    [201, { token_type: 'bearer' }, 200],
    [201, {}, 200],
    [200, { token_type: null }, 200],
    [200, { token_type: 'DPoP' }, 503],
    [200, { token_type: 'mac' }, 503],
    [202, { token_type: 'Bearer' }, 503],
  ] as const) {
    const answer = JSON.stringify({ access_token: 'abc', expires_in: 60, ...type })
    const server = await callee(t, (res) => res.writeHead(status).end(answer))
    const { send } = await gatewayWith(t, { tokenUrl: server.url })
    const [got, text] = await send({})
    assert.equal(got, expected, `${status} ${JSON.stringify(type)}: ${text}`)
    if (got === 200) assert.equal(text, 'Bearer abc')
  }
})

test('options of another grant are configuration errors', async (t) => {
  const tokenUrl = 'http://127.0.0.1:1/'
  const assertion = { issuer: 'a', privateKey: 'no key' }
  for (const [own, message] of [
    [{ assertion }, /jwt-bearer/],
    [{ grant: 'jwt-bearer', assertion }, /key/],
    [{ grant: 'jwt-bearer', requestedTokenType: 'a' }, /token-exchange/],
    [{ parameters: { assertion: 'a' } }, /must not contain .assertion./],
  ] as const) {
    await assert.rejects(gatewayWith(t, { tokenUrl, ...own }), message)
  }
})
