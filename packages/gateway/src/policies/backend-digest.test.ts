import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { loadOrThrow } from '@sluice/config/testing'
import { catalog } from '@sluice/policies'
import { startGateway } from '../testing/gateway.js'
import { callee } from './testing/calling-gateway.js'

const PASSWORD = 'Circle of Life'

/** A backend that follows RFC 7616 and counts the uses of its nonce. */
async function digestBackend(t: TestContext, algorithm = 'SHA-256') {
  const state = { nonce: 'n1', uses: new Set<string>(), asked: 0, stale: false }
  const backend = await callee(t, (res, req) => {
    if (isRight(req, algorithm, state)) res.end('welcome')
    else challenge(res)
  })
  const challenge = (res: ServerResponse): void => {
    state.asked++
    const digest = `Digest realm="a", qop="auth", algorithm=${algorithm}, nonce="${state.nonce}", stale=${state.stale}`
    res.writeHead(401, { 'www-authenticate': ['Basic realm="a"', digest] }).end('who?')
  }
  return { backend, state }
}

function isRight(
  { headers, method, url }: IncomingMessage,
  algorithm: string,
  state: { nonce: string; uses: Set<string> },
) {
  const line = headers.authorization ?? ''
  const value = (name: string): string => new RegExp(`${name}="?([^",]*)`).exec(line)?.[1] ?? ''
  const hash = (text: string): string =>
    createHash(algorithm === 'MD5' ? 'md5' : 'sha256')
      .update(text)
      .digest('hex')
  const use = value('nc')
  if (value('nonce') !== state.nonce || value('uri') !== url || state.uses.has(use)) return false
  state.uses.add(use)
  const rest = [state.nonce, use, value('cnonce'), 'auth', hash(`${method}:${url}`)].join(':')
  return value('response') === hash(`${hash(`Mufasa:a:${PASSWORD}`)}:${rest}`)
}

async function gatewayTo(t: TestContext, target: string, more: object = {}) {
  const digest = { username: 'Mufasa', password: PASSWORD, ...more }
  const policy = JSON.stringify({ use: 'backend-auth', with: { digest } })
  const text = `version: 1\nupstreams: { up: { targets: ['${target}'] } }\nroutes: [{ id: a, upstream: up, policies: [${policy}] }]\n`
  const { plan } = loadOrThrow(text, catalog)
  return startGateway(t, { upstreams: [{ urls: [target] }], routes: plan.routes }, { catalog })
}

test('the challenge of a backend is answered, remembered, and answered again when its nonce is stale', async (t) => {
  const { backend, state } = await digestBackend(t)
  const gateway = await gatewayTo(t, backend.url)
  const send = async (path: string, options: RequestInit = {}) =>
    (await fetch(gateway.url + path, { headers: { authorization: 'Basic YTpi' }, ...options })).status
  assert.equal(await send('/a?b="c'), 200)
  assert.deepEqual([state.asked, backend.calls.length], [1, 2])
  assert.equal(backend.calls[0]!.headers.authorization, undefined, 'nothing of the client gets there')
  assert.deepEqual(await Promise.all(['/a', '/b', '/c'].map((path) => send(path))), [200, 200, 200])
  assert.equal(await send('/d', { method: 'POST', body: 'text' }), 200)
  assert.equal(state.asked, 1)
  Object.assign(state, { nonce: 'n2', uses: new Set(), stale: true })
  assert.equal(await send('/e', { method: 'POST', body: 'text' }), 200)
  assert.equal(backend.calls.at(-1)!.body, 'text')
  assert.equal(state.asked, 2)
})

test('a wrong password is tried once per request, and MD5 only if allowed', async (t) => {
  const { backend, state } = await digestBackend(t)
  const wrong = await gatewayTo(t, backend.url, { password: 'other' })
  assert.equal((await fetch(wrong.url)).status, 401)
  assert.equal(backend.calls.length, 2)
  assert.equal((await fetch(wrong.url)).status, 401)
  assert.ok(backend.calls.length <= 4)
  assert.doesNotMatch(JSON.stringify(wrong.events), /other/)
  const old = await digestBackend(t, 'MD5')
  const strict = await gatewayTo(t, old.backend.url)
  assert.equal((await fetch(strict.url)).status, 401)
  assert.equal(old.backend.calls.length, 1)
  assert.ok(strict.events.some(({ event }) => event === 'backend_digest_failed'))
  const lax = await gatewayTo(t, old.backend.url, { allowWeak: true })
  assert.equal((await fetch(lax.url)).status, 200)
  assert.equal(state.stale, false)
})
