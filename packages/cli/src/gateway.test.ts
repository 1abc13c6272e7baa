import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import http from 'node:http'
import { test } from 'node:test'
import { documentFor, gw, origin, rssOf, startGateway, statusOf, until } from './testing.js'

// The whole gateway as people run it: `gw start`, real workers, real sockets.

const BIG_BYTES = 512 * 1024 ** 2
const ALLOWED_GROWTH_BYTES = 64 * 1024 ** 2

test('large bodies up and down leave memory flat', async (t) => {
  const target = await origin(t, (req, res) => {
    if (req.method === 'POST') {
      let bytes = 0
      req.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      req.on('end', () => res.end(String(bytes)))
      return
    }
    res.setHeader('content-length', BIG_BYTES)
    const chunk = Buffer.alloc(256 * 1024)
    let left = BIG_BYTES
    const pump = (): void => {
      while (left > 0) {
        left -= chunk.length
        if (!res.write(chunk)) {
          res.once('drain', pump)
          return
        }
      }
      res.end()
    }
    pump()
  })
  const gateway = await startGateway(t, documentFor(target), ['--workers', '1'])
  // Buffers and heap reach their working size first; what must not happen is that they grow with the body.
  await (await fetch(`${gateway.url}/`, { method: 'POST', body: Buffer.alloc(64 * 1024 ** 2) })).text()
  const pid = (await statusOf(gateway.admin)).workers[0]!.pid!
  const before = rssOf(pid)
  let peak = before
  const watch = setInterval(() => {
    peak = Math.max(peak, rssOf(pid))
  }, 50)
  t.after(() => clearInterval(watch))
  assert.equal(await uploaded(`${gateway.url}/up`), BIG_BYTES)
  assert.equal(await downloaded(`${gateway.url}/down`), BIG_BYTES)
  assert.ok(peak - before < ALLOWED_GROWTH_BYTES, `memory grew by ${peak - before} bytes`)
})

function uploaded(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method: 'POST', headers: { 'content-length': BIG_BYTES } }, (res) => {
      let text = ''
      res.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      res.on('end', () => resolve(Number(text)))
    })
    request.on('error', reject)
    const chunk = Buffer.alloc(256 * 1024)
    let left = BIG_BYTES
    const pump = (): void => {
      while (left > 0) {
        left -= chunk.length
        if (!request.write(chunk)) {
          request.once('drain', pump)
          return
        }
      }
      request.end()
    }
    pump()
  })
}

function downloaded(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    http
      .get(url, (res) => {
        let bytes = 0
        res.on('data', (chunk: Buffer) => {
          bytes += chunk.length
        })
        res.on('end', () => resolve(bytes))
        res.on('error', reject)
      })
      .on('error', reject)
  })
}

test('SIGTERM fails readiness first, finishes requests in flight and exits with 0', async (t) => {
  let release: () => void = () => {}
  let isReached = false
  const target = await origin(t, (_, res) => {
    isReached = true
    release = () => res.end('late but whole')
  })
  const gateway = await startGateway(t, documentFor(target, 'drain: { delay: 1s, timeout: 10s }\n'))
  const answer = fetch(`${gateway.url}/slow`)
  await until(() => isReached)
  gateway.process.kill('SIGTERM')
  await until(async () => (await fetch(`${gateway.url}/-/readyz`)).status === 503)
  release()
  assert.equal(await (await answer).text(), 'late but whole')
  assert.equal(await gateway.exited, 0)
})

test('a changed file is reloaded, a broken one is not', async (t) => {
  const target = await origin(t, (_, res) => res.end('ok'))
  const gateway = await startGateway(t, documentFor(target))
  const { digest } = await statusOf(gateway.admin)
  writeFileSync(gateway.config, documentFor(target).replace('id: all', 'id: renamed'))
  await until(async () => (await statusOf(gateway.admin)).digest !== digest)
  const renamed = (await statusOf(gateway.admin)).digest
  writeFileSync(gateway.config, 'version: 1\nrutes: []\n')
  await until(() => gateway.logText().includes('did you mean'))
  assert.equal((await statusOf(gateway.admin)).digest, renamed)
  assert.equal((await fetch(`${gateway.url}/a`)).status, 200)
})

test('policies act on real requests: credentials, limits, headers, conditions', async (t) => {
  const target = await origin(t, (req, res) => {
    req.resume()
    req.on('end', () => res.end(JSON.stringify(req.headers)))
  })
  const { stdout: hash } = await gw(['hash-password'], { stdin: 'secret\n' })
  const { stdout: digest } = await gw(['hash-key'], { stdin: 'key-0123456789abcdef0123\n' })
  const gateway = await startGateway(
    t,
    documentFor(target).replace(
      /routes:[\s\S]*log:/,
      `policies:
  - { id: users, use: basic-auth, with: { users: [{ name: acme, password: "${hash.trim()}" }] } }
routes:
  - id: basic
    match: { path: /basic }
    upstream: up
    policies: [users]
  - id: key
    match: { path: /key }
    upstream: up
    policies: [{ use: api-key, with: { keys: [{ id: k1, sha256: ${digest.trim()} }] } }]
  - id: small
    match: { path: /small }
    upstream: up
    policies: [{ use: body-limit, with: { maxBytes: 10b } }]
  - id: nobody
    match: { path: /nobody }
    upstream: up
    policies: [{ use: ip-filter, with: { deny: [127.0.0.0/8] }, when: 'req.header["x-let"] != "me"' }]
  - id: set
    match: { path: /set }
    upstream: up
    policies: [{ use: header, with: { request: { set: { x-in: "1" } }, response: { set: { x-out: "2" } } } }]
log:`,
    ),
  )
  const call = (path: string, init: RequestInit = {}) => fetch(`${gateway.url}${path}`, init)
  const basic = (text: string) => ({
    headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` },
  })
  assert.equal((await call('/basic')).headers.get('x-gw-error'), 'GW_AUTH_MISSING')
  assert.equal((await call('/basic', basic('acme:wrong'))).headers.get('x-gw-error'), 'GW_AUTH_INVALID')
  for (let i = 0; i < 3; i++) {
    const answer = await call('/basic', basic('acme:secret'))
    assert.equal(answer.status, 200)
    assert.equal(Object.hasOwn((await answer.json()) as object, 'authorization'), false)
  }
  assert.equal((await call('/key')).status, 401)
  assert.equal((await call('/key', { headers: { 'x-api-key': 'key-0123456789abcdef0123' } })).status, 200)
  assert.equal((await call('/small', { method: 'POST', body: 'x'.repeat(11) })).status, 413)
  assert.equal((await call('/small', { method: 'POST', body: 'x' })).status, 200)
  assert.equal((await call('/nobody')).headers.get('x-gw-error'), 'GW_IP_DENIED')
  assert.equal((await call('/nobody', { headers: { 'x-let': 'me' } })).status, 200)
  const set = await call('/set')
  assert.equal(set.headers.get('x-out'), '2')
  assert.equal(((await set.json()) as Record<string, string>)['x-in'], '1')
})
