import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { loadOrThrow } from '@sluice/config/testing'
import { catalog } from '@sluice/policies'
import { FAKE_CERTIFICATES } from '../admin/testing/test-certificate.js'
import { certificateFiles } from '../listen/testing/certificate-files.js'
import { startGateway, until } from '../testing/gateway.js'
import { callee, json } from './testing/calling-gateway.js'

const ECHO = [
  ...["{ use: header, with: { response: { set: { x-id: '{{consumer.id}}', x-name: '{{consumer.name}}',"],
  ...["x-lists: '{{consumer.groups}}/{{consumer.roles}}/{{consumer.scopes}}', x-var: '{{vars.a}}' } } } }"],
].join(' ')

/** Starts a gateway whose route has one policy, and responds by itself without a target. */
async function gatewayOf(t: TestContext, use: string, settings: object, target?: string) {
  const action = target === undefined ? 'respond: { status: 200 }' : 'upstream: up'
  const up = target === undefined ? '' : `upstreams: { up: { targets: ['${target}'] } }\n`
  const policy = JSON.stringify({ use, with: settings })
  const text = `version: 1\n${up}routes: [{ id: a, ${action}, policies: [${policy}, ${ECHO}] }]\n`
  const { plan } = loadOrThrow(text, catalog)
  const upstreams = target === undefined ? [] : [{ urls: [target], name: 'up' }]
  return startGateway(t, { upstreams, routes: plan.routes }, { catalog })
}

test('servers are verified with the configured CA, and the gateway presents its certificate', async (t) => {
  const { cert, key } = FAKE_CERTIFICATES.localhost
  const names: string[] = []
  const answer = (req: IncomingMessage, res: ServerResponse): void => {
    names.push(
      'getPeerCertificate' in req.socket
        ? String((req.socket as never as TlsSocket).getPeerCertificate().subject.CN)
        : '',
    )
    json({ access_token: 't', a: '1' })(res)
  }
  const server = createServer({ cert, key, requestCert: true, ca: cert }, answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const backend = await callee(t, (res, req) => res.end(req.headers.authorization))
  const { certFile, keyFile } = certificateFiles(t)
  const own = { caFile: certFile, certFile, keyFile, servername: 'localhost' }
  const uses = (tls: object): readonly (readonly [string, object, string?])[] => {
    const more = { tls }
    const oauth2 = { tokenUrl: url, clientId: 'c', clientAuth: 'tls', timeout: '20s', ...more }
    const call = { name: 'c', url, timeout: '20s', save: [{ from: '$.a', to: 'vars.a' }], ...more }
    return [
      ['forward-auth', { url, timeout: '20s', ...more }],
      ['api-call', { calls: [call] }],
      ['backend-auth', { oauth2 }, backend.url],
    ]
  }
  for (const [use, settings, target] of uses(own)) {
    const gateway = await gatewayOf(t, use, settings, target)
    const response = await fetch(gateway.url)
    assert.equal(response.status, 200, `${use} ${JSON.stringify(gateway.events)}`)
    if (use === 'api-call') assert.equal(response.headers.get('x-var'), '1')
  }
  assert.deepEqual(names, ['localhost', 'localhost', 'localhost'])
  for (const [use, settings, target] of uses({ ...own, caFile: undefined })) {
    const { status } = await fetch((await gatewayOf(t, use, settings, target)).url)
    assert.equal(status, use === 'api-call' ? 502 : 503, use)
  }
  assert.equal(names.length, 3)
})

interface TlsSocket {
  getPeerCertificate(): { readonly subject: { readonly CN: string } }
}

test('forward-auth sends the configured request, reads the consumer, and forwards listed headers', async (t) => {
  const auth = await callee(t, (res) => {
    res.writeHead(200, { 'x-i': '7', 'x-n': 'Ann', 'x-g': 'a, b', 'x-r': 'c,d', 'x-s': 'e  f' }).end()
  })
  const fields = { id: 'X-I', name: 'X-N', groups: 'X-G', roles: 'X-R', scopes: 'X-S' }
  const gateway = await gatewayOf(t, 'forward-auth', {
    ...{
      url: auth.url,
      timeout: '20s',
      method: 'HEAD',
      requestHeaders: ['X-Key'],
      denyHeaders: ['x-why'],
      consumer: fields,
    },
    clientHeaders: ['x-n'],
  })
  const send = () => fetch(gateway.url, { headers: { 'x-key': 'k', authorization: 'a' } })
  const { headers } = await send()
  assert.deepEqual(
    ['x-id', 'x-name', 'x-lists', 'x-n'].map((name) => headers.get(name)),
    ['7', 'Ann', 'a b/c d/e f', 'Ann'],
  )
  const [call] = auth.calls
  assert.deepEqual(
    [call!.method, call!.headers['x-key'], call!.headers.authorization],
    ['HEAD', 'k', undefined],
  )
  auth.answer = (res) => res.writeHead(403, { 'x-why': 'no', 'set-cookie': 'a=1' }).end()
  const refused = await send()
  assert.deepEqual([refused.headers.get('x-why'), refused.headers.get('set-cookie')], ['no', null])
})

test('forward-auth evicts the least recently used decisions and limits the response size', async (t) => {
  const auth = await callee(t, (res) => res.end('x'.repeat(500)))
  const cache = { key: ['req.path'], maxEntries: 1, scope: 'worker' }
  const bounded = await gatewayOf(t, 'forward-auth', {
    url: auth.url,
    cache,
    maxResponseBytes: '1kb',
    timeout: '20s',
  })
  for (const path of ['/a', '/a', '/b', '/a']) assert.equal((await fetch(bounded.url + path)).status, 200)
  assert.equal(auth.calls.length, 3)
  const small = await gatewayOf(t, 'forward-auth', { url: auth.url, maxResponseBytes: '100b' })
  assert.equal((await fetch(small.url)).status, 503)
})

test('api-call shares calls and responds as configured', async (t) => {
  const waiting: ServerResponse[] = []
  const other = await callee(t, (res) => void waiting.push(res))
  const callsOf = async (more: object, most: number): Promise<number> => {
    other.calls.length = 0
    const call = { name: 'c', url: other.url, timeout: '20s', ...more }
    const gateway = await gatewayOf(t, 'api-call', { calls: [call] })
    const both = Promise.all([fetch(gateway.url), fetch(gateway.url)])
    await until(() => gateway.plane.inFlight === 2 && waiting.length === most)
    for (const res of waiting.splice(0)) res.end()
    await both
    return other.calls.length
  }
  assert.equal(await callsOf({}, 1), 1)
  assert.equal(await callsOf({ coalesce: false }, 2), 2)
  assert.equal(await callsOf({ method: 'POST', body: 'a' }, 2), 2)
  assert.equal(await callsOf({ method: 'POST', body: 'a', coalesce: true }, 1), 1)
  other.answer = (res) => res.writeHead(500).end()
  const respond = { status: 409, headers: { 'x-why': '{{req.method}}' }, body: 'plain' }
  const own = await gatewayOf(t, 'api-call', {
    calls: [{ name: 'c', url: other.url, onError: 'respond', respond }],
  })
  const response = await fetch(own.url)
  assert.deepEqual(
    [response.status, response.headers.get('x-why'), await response.text()],
    [409, 'GET', 'plain'],
  )
})

test('bodies for S3 need not be signed, and then they are streamed', async (t) => {
  const backend = await callee(t, (res, req) => res.end(String(req.headers['x-amz-content-sha256'])))
  const awsSigV4 = {
    ...{ region: 'eu-central-1', service: 's3', accessKeyId: 'AKID', secretAccessKey: 'secret' },
    ...{ sessionToken: 'temporary', unsignedPayload: true },
  }
  const gateway = await gatewayOf(t, 'backend-auth', { awsSigV4 }, backend.url)
  const response = await fetch(gateway.url, { method: 'PUT', body: 'x'.repeat(300_000) })
  assert.equal(await response.text(), 'UNSIGNED-PAYLOAD')
  const [{ headers, body }] = backend.calls as [(typeof backend.calls)[0]]
  assert.deepEqual([headers['x-amz-security-token'], body.length], ['temporary', 300_000])
  const other = { ...awsSigV4, service: 'lambda' }
  await assert.rejects(gatewayOf(t, 'backend-auth', { awsSigV4: other }, backend.url), /for the service s3/)
})
