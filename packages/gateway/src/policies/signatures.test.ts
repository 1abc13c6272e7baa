import assert from 'node:assert/strict'
import { createHash, createHmac, createPublicKey, randomBytes, verify } from 'node:crypto'
import http from 'node:http'
import { type TestContext, test } from 'node:test'
import type { PolicyUse } from '@sluice/config'
import { keyPair } from '@sluice/core/testing'
import { catalog } from '@sluice/policies'
import { startGateway, type TestGateway } from '../testing/gateway.js'
import { closedPort, httpOrigin } from '../testing/origin.js'
import { sendRaw } from '../testing/raw-client.js'

const SECRET = randomBytes(32).toString('hex')
const FIELD_KEY = randomBytes(32).toString('base64')
const ed = keyPair('ed25519')
const PRIVATE = String(ed.privateKey.export({ type: 'pkcs8', format: 'pem' }))
const PUBLIC = String(ed.publicKey.export({ type: 'spki', format: 'pem' }))

function use(name: string, config: object, nth = 0): PolicyUse {
  return { id: `${name}-${nth}`, use: name, with: config, when: null, onError: 'fail' }
}

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
}

/** A gateway with these policies before an origin that answers with a JSON body. */
async function start(t: TestContext, policies: PolicyUse[], route: object = {}, urls: string[] = []) {
  const seen: Seen[] = []
  const origin = await httpOrigin(t, (req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const { method = '', url = '', headers } = req
      seen.push({ method, url, headers, body: Buffer.concat(chunks).toString('latin1') })
      if (url.includes('/empty')) res.writeHead(204).end()
      else res.setHeader('content-type', 'application/json').end('{"iban":"DE89", "n":1.0}')
    })
  })
  const overrides = {
    upstreams: [{ urls: [...urls, origin.url] }],
    routes: [{ id: 'all', policies, ...route }],
  }
  return { seen, origin, gateway: await startGateway(t, overrides, { catalog }) }
}

interface Call {
  readonly path: string
  readonly method?: string
  readonly headers?: Record<string, string | string[]>
  readonly chunks?: readonly (string | Buffer)[]
}

/** Sends the path as it is: fetch would make another one of it. */
function call(gateway: TestGateway, { path, method = 'POST', headers = {}, chunks = [] }: Call) {
  return new Promise<{ status: number; headers: http.IncomingHttpHeaders; body: string }>(
    (resolve, reject) => {
      const request = http.request(
        { port: gateway.port, path, method, headers, agent: false },
        (response) => {
          let body = ''
          response.on('data', (chunk: Buffer) => {
            body += chunk.toString('latin1')
          })
          response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body }))
        },
      )
      request.on('error', reject)
      for (const chunk of chunks) request.write(chunk)
      request.end()
    },
  )
}

test('a webhook passes through the gateway with its bytes, and nothing else does', async (t) => {
  const { gateway, seen } = await start(t, [
    use('hmac-signature', { preset: 'github', secrets: [SECRET], replay: {}, strip: true }),
    use('header', { request: { set: { 'x-verified': 'yes' } } }),
  ])
  const body = Buffer.from('{"a": "\u00e9",\r\n\u0000}')
  const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`
  const headers = { 'x-hub-signature-256': signature }
  const chunks = [body.subarray(0, 3), body.subarray(3)]
  assert.equal((await call(gateway, { path: '/hook', headers, chunks })).status, 200)
  assert.equal(seen[0]!.body, body.toString('latin1'))
  assert.equal(seen[0]!.headers['x-hub-signature-256'], undefined)
  assert.equal(seen[0]!.headers['x-verified'], 'yes')
  const replayed = await call(gateway, { path: '/hook', headers, chunks })
  assert.equal(replayed.status, 401)
  assert.equal(replayed.headers['x-gw-error'], 'GW_SIGNATURE_INVALID')
  const changed = await call(gateway, { path: '/hook', headers, chunks: [body, ' '] })
  assert.equal(changed.status, 401)
  const missing = await call(gateway, { path: '/hook', chunks })
  assert.equal(missing.headers['x-gw-error'], 'GW_SIGNATURE_MISSING')
  assert.equal(missing.headers['www-authenticate'], 'Signature header="x-hub-signature-256"')
  assert.equal(seen.length, 1)
})

/** The fields that a client of RFC 9421 adds, made here without any code of the policy. */
function rfc9421(gateway: TestGateway, path: string, body: string): Record<string, string> {
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`
  const params = `("@method" "@authority" "@path" "@query" "content-digest");created=${Math.floor(Date.now() / 1000)};keyid="c1"`
  const [pathname, query = ''] = path.split('?')
  const base = [
    '"@method": POST',
    `"@authority": localhost:${gateway.port}`,
    `"@path": ${pathname}`,
    `"@query": ?${query}`,
    `"content-digest": ${digest}`,
    `"@signature-params": ${params}`,
  ].join('\n')
  const secret = createHmac('sha256', Buffer.from(SECRET)).update(base).digest('base64')
  return {
    host: `LOCALHOST:${gateway.port}`,
    'content-digest': digest,
    'signature-input': `s=${params}`,
    signature: `s=:${secret}:`,
  }
}

test('a signed request passes as it was sent, escapes and all, and not with another byte', async (t) => {
  const config = { verify: { keys: [{ id: 'c1', algorithm: 'hmac-sha256', key: SECRET }] } }
  const { gateway, seen } = await start(t, [use('http-signature', config)], { encodedSlashes: 'keep' })
  const path = '/a%2Fb/%C3%BC/?q=%7e+1&&x='
  const headers = rfc9421(gateway, path, 'text')
  assert.equal((await call(gateway, { path, headers, chunks: ['te', 'xt'] })).status, 200)
  assert.equal(seen[0]!.url, path)
  const status = async (change: Partial<Call>): Promise<number> =>
    (await call(gateway, { path, headers, chunks: ['text'], ...change })).status
  assert.equal(await status({ path: path.replace('%7e', '%7E') }), 401)
  assert.equal(await status({ path: path.replace('%2F', '/') }), 401)
  assert.equal(await status({ method: 'PUT' }), 401)
  assert.equal(await status({ chunks: ['Text'] }), 401)
  assert.equal(await status({ chunks: [] }), 401)
  assert.equal(await status({ headers: { ...headers, host: 'other.example' } }), 401)
  assert.equal(await status({ headers: { host: headers['host']! } }), 401)
  assert.equal(seen.length, 1)
})

/** What an upstream would compute. */
function isSignedFor(request: Seen, host: string): boolean {
  const input = String(request.headers['signature-input']).replace(/^sluice=/, '')
  const signature = Buffer.from(String(request.headers['signature']).slice('sluice=:'.length, -1), 'base64')
  const base = [
    `"@method": ${request.method}`,
    `"@target-uri": http://${host}${request.url}`,
    ...(request.body === '' ? [] : [`"content-digest": ${request.headers['content-digest']}`]),
    `"@signature-params": ${input}`,
  ].join('\n')
  return verify(null, Buffer.from(base), createPublicKey(PUBLIC), signature)
}

test('the upstream gets a signature over what it is sent, also after a failed attempt', async (t) => {
  const rewrite = { prefix: '/v2', path: null, regex: null, host: 'upstream' as const }
  const path = {
    text: '/api/*',
    kind: 'prefix' as const,
    segments: [{ kind: 'literal' as const, text: 'api' }],
  }
  const match = { hosts: [], path, methods: [], headers: [], query: [], when: null }
  const dead = `http://127.0.0.1:${await closedPort()}`
  const config = { sign: { key: { id: 'gw', algorithm: 'ed25519', key: PRIVATE } } }
  const { gateway, seen, origin } = await start(t, [use('http-signature', config)], { rewrite, match }, [
    dead,
  ])
  const host = `127.0.0.1:${origin.port}`
  for (let i = 0; i < 4; i++) {
    const answer = await call(gateway, {
      path: '/api/orders?a=%20b',
      method: i % 2 ? 'PUT' : 'GET',
      chunks: i % 2 ? ['{"a":1}'] : [],
    })
    assert.equal(answer.status, 200)
  }
  assert.equal(seen.length, 4)
  for (const request of seen) {
    assert.equal(request.url, '/v2/orders?a=%20b')
    assert.ok(isSignedFor(request, host), request.method)
    assert.ok(!isSignedFor({ ...request, url: '/v2/orders' }, host))
  }
  const digest = createHash('sha256').update('{"a":1}').digest('base64')
  assert.equal(seen.find(({ method }) => method === 'PUT')!.headers['content-digest'], `sha-256=:${digest}:`)
})

test('responses are signed for the client, with and without a body', async (t) => {
  const config = {
    signResponse: {
      key: { id: 'gw', algorithm: 'ed25519', key: PRIVATE },
      components: ['@status', 'content-digest', '@path;req'],
    },
  }
  const { gateway } = await start(t, [use('http-signature', config)])
  for (const path of ['/full', '/empty']) {
    const { status, headers, body } = await call(gateway, { path, method: 'GET' })
    const input = String(headers['signature-input']).replace(/^sluice=/, '')
    const base = [
      `"@status": ${status}`,
      ...(body === ''
        ? []
        : [`"content-digest": sha-256=:${createHash('sha256').update(body).digest('base64')}:`]),
      `"@path";req: ${path}`,
      `"@signature-params": ${input}`,
    ].join('\n')
    const signature = Buffer.from(String(headers['signature']).slice('sluice=:'.length, -1), 'base64')
    assert.ok(verify(null, Buffer.from(base), createPublicKey(PUBLIC), signature), path)
  }
})

test('a value is encrypted for the upstream and decrypted on its way back', async (t) => {
  const keys = [{ id: 'k', key: FIELD_KEY }]
  const field = { from: 'json.iban', algorithm: 'aes-256-gcm' }
  const { gateway, seen } = await start(t, [
    use('encrypt', { keys, fields: [{ ...field, key: 'k' }] }),
    use('encrypt', { phase: 'response', keys, fields: [{ ...field, key: 'k' }] }, 1),
  ])
  const json = '{"big":12345678901234567890,"iban":"FR76"}'
  const headers = { 'content-type': 'application/json' }
  const answer = await call(gateway, { path: '/', headers, chunks: [json] })
  const sent = seen[0]!.body
  assert.match(sent, /^\{"big":12345678901234567890,"iban":"k:[A-Za-z0-9+/=]+"\}$/)
  assert.equal(Number(seen[0]!.headers['content-length']), sent.length)
  assert.match(answer.body, /^\{"iban":"k:[A-Za-z0-9+/=]+", "n":1\.0\}$/)
  const back = await start(t, [use('decrypt', { keys, fields: [{ ...field, keys: ['k'] }] })])
  assert.equal((await call(back.gateway, { path: '/', headers, chunks: [sent] })).status, 200)
  assert.equal(back.seen[0]!.body, json)
  const failures = await Promise.all(
    [json, sent.replace('k:', 'x:'), sent.replace(/.{5}"\}$/, '"}'), '{}'].map((body) =>
      call(back.gateway, { path: '/', headers: { ...headers, accept: 'application/json' }, chunks: [body] }),
    ),
  )
  const shapes = failures.map(({ status, headers: fields, body }) =>
    JSON.stringify([status, fields['x-gw-error'], body.replaceAll(/[0-9a-f-]{36}/g, 'ID')]),
  )
  assert.equal(new Set(shapes).size, 1)
  assert.match(shapes[0]!, /^\[400,"GW_DECRYPT_FAILED"/)
})

test('a detached signature is made by one gateway and verified by the next', async (t) => {
  const signature = { from: 'body', algorithm: 'Ed25519' }
  const making = await start(t, [
    use('sign', {
      keys: [{ id: 'k', key: PRIVATE }],
      signatures: [{ ...signature, to: 'header.x-s', key: 'k' }],
    }),
  ])
  await call(making.gateway, { path: '/', chunks: ['text'] })
  const headers = { 'x-s': String(making.seen[0]!.headers['x-s']) }
  const checking = await start(t, [
    use('verify', {
      keys: [{ id: 'k', key: PUBLIC }],
      signatures: [{ ...signature, signature: 'header.x-s', keys: ['k'] }],
    }),
  ])
  assert.equal((await call(checking.gateway, { path: '/', headers, chunks: ['text'] })).status, 200)
  assert.equal((await call(checking.gateway, { path: '/', headers, chunks: ['Text'] })).status, 401)
  assert.equal(
    (await call(checking.gateway, { path: '/', chunks: ['text'] })).headers['x-gw-error'],
    'GW_SIGNATURE_MISSING',
  )
})

test('a folded line does not slip past a signature', async (t) => {
  const { gateway, seen } = await start(t, [
    use('http-signature', { verify: { keys: [{ id: 'c1', algorithm: 'hmac-sha256', key: SECRET }] } }),
  ])
  const fields = Object.entries(rfc9421(gateway, '/a', ''))
  const lines = fields.map(([name, value]) => `${name}: ${value}`)
  const send = (head: readonly string[], waitMs: number) =>
    sendRaw(gateway.port, [`POST /a HTTP/1.1\r\n${head.join('\r\n')}\r\nContent-Length: 0\r\n\r\n`], {
      waitMs,
      until: (text) => text.includes('\r\n\r\n'),
    })
  const folded = await send(
    lines.map((line) => line.replace(';created', '\r\n ;created')),
    1000,
  )
  assert.doesNotMatch(folded.text, /^HTTP\/1\.1 2/)
  assert.equal(seen.length, 0)
  assert.match((await send(lines, 10_000)).text, /^HTTP\/1\.1 200 /)
})
