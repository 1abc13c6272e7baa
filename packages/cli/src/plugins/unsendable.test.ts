import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { installPackage, policyCode } from '@sluice/config/testing'
import { scratch, spawnGw, startArgs, until } from '../testing.js'

/** Hooks that leave something that cannot be sent, as the source of a step. */
const FAILING: Readonly<Record<string, string>> = {
  'status-nan': 'onResponse: (x) => (x.status = NaN, null)',
  'status-text': 'onResponse: (x) => (x.status = "404", null)',
  'status-99': 'onResponse: (x) => (x.status = 99, null)',
  'status-100': 'onResponse: (x) => (x.status = 100, null)',
  'status-101': 'onResponse: async (x) => { await null; x.status = 101; return null }',
  'status-600': 'onResponse: (x) => (x.status = 600, null)',
  'status-1000': 'onResponse: (x) => (x.status = 1000, null)',
  'status-negative': 'onResponse: (x) => (x.status = -1, null)',
  'status-fraction': 'onResponse: (x) => (x.status = 200.5, null)',
  'status-null': 'onResponse: (x) => (x.status = null, null)',
  'line-break': 'onResponse: (x) => (x.responseHeaders.push("x-a", "b\\r\\nx-c: d"), null)',
  'field-name': 'onResponse: (x) => (x.responseHeaders.push("x a", "b"), null)',
  'no-fields': 'onResponse: (x) => (x.responseHeaders = null, null)',
  'text-body': 'onResponse: (x) => (x.responseBody = "text", null)',
  'request-line-break': 'onRequest: (x) => (x.headers.push("x-a", "b\\r\\nx-c: d"), null)',
  'request-wide-line-break': 'onRequest: (x) => (x.headers.push("x-a", "b\\u010d\\u010ax-c: d"), null)',
  'request-length': 'onRequest: (x) => (x.headers.push("content-length", "0"), null)',
  'request-coding': 'onRequest: (x) => (x.headers.push("Transfer-Encoding", "chunked"), null)',
  'odd-fields': 'onRequest: (x) => (x.headers.push("x-a"), null)',
  'wide-line-break': 'onResponse: (x) => (x.responseHeaders.push("x-a", "b\\u010d\\u010ax-c: d"), null)',
  'method-space': 'onRequest: (x) => (x.method = "GET /admin", null)',
  'method-connect': 'onRequest: (x) => (x.method = "CONNECT", null)',
  'method-null': 'onRequest: (x) => (x.method = null, null)',
  'path-space': 'onRequest: (x) => (x.forwardPath = "/a b", null)',
  'path-relative': 'onRequest: async (x) => { await null; x.forwardPath = "a"; return null }',
  'path-number': 'onRequest: (x) => (x.forwardPath = 5, null)',
  'query-line-break': 'onRequest: (x) => (x.query = "a=1\\r\\nx: y", null)',
  'query-fragment': 'onRequest: (x) => (x.query = "a#b", null)',
  'query-undefined': 'onRequest: (x) => (x.query = undefined, null)',
  'reply-status': 'onRequest: () => sluice.answer(99, [], null)',
  'reply-field': 'onRequest: () => sluice.answer(200, ["x-a", "b\\r\\nx-c: d"], null)',
  'reply-text': 'onRequest: () => sluice.answer(200, [], "text")',
  'reply-getter': 'onRequest: () => ({ get status() { throw new Error("no") } })',
  'rejecting-thenable': 'onRequest: () => ({ then(keep, refuse) { refuse(new Error("no")) } })',
  'throwing-thenable': 'onRequest: () => ({ get then() { throw new Error("no") } })',
  'lost-prototype':
    'onRequest: () => Object.setPrototypeOf((async () => { throw new Error("no") })(), { then: Promise.prototype.then })',
}

/** Hooks whose results look strange and can be sent. */
const PASSING: Readonly<Record<string, string>> = {
  'reply-that-changes': `onRequest: () => {
    let reads = 0
    return { get status() { return reads++ === 0 ? 200 : 99 }, headers: [], body: Buffer.from('fine'), problem: null }
  }`,
  thenable: 'onRequest: () => ({ then(keep) { keep(null) } })',
  'response-length': 'onResponse: (x) => (x.responseHeaders.push("content-length", "0"), null)',
  'response-coding': 'onResponse: (x) => (x.responseHeaders.push("Transfer-Encoding", "chunked"), null)',
  'reply-length':
    'onRequest: () => sluice.answer(200, ["content-length", "0", "connection", "close"], Buffer.from("fine"))',
  'request-line': 'onRequest: (x) => (x.method = "PURGE", x.forwardPath = "/a/%20?b", x.query = "c=d", null)',
}

/** Steps that fail after they have set something that cannot be sent. */
const CONTINUED: Readonly<Record<string, string>> = {
  'invalid-line': 'onRequest: (x) => (x.method = "", x.forwardPath = "", x.query = " ", x.status = 99, null)',
  'invalid-then-throws': 'onRequest: (x) => { x.query = " "; throw new Error("no") }',
  'invalid-field': 'onRequest: (x) => (x.headers.push("x-a", "b\\r\\nx-c: d"), null)',
  'invalid-attempt-field': 'onAttempt: async (x) => { await null; x.headers.push("x-a"); return null }',
  'invalid-lists': 'onRequest: (x) => (x.headers = null, x.responseHeaders = "x-c", null)',
  'invalid-bodies': 'onRequest: (x) => (x.body = "text", x.responseBody = 5, null)',
  'invalid-response': 'onResponse: (x) => (x.responseHeaders.push("x-c", "a\\nb"), x.responseBody = 5, null)',
  'invalid-response-body': 'onResponseBody: (x) => { x.responseBody = {}; throw new Error("no") }',
  'invalid-then-rejects': 'onAttempt: async (x) => { await null; x.method = ""; throw new Error("no") }',
}

const CODE = policyCode(
  'deeds',
  `const steps = {
    ${Object.entries({ ...FAILING, ...PASSING, ...CONTINUED })
      .map(([name, step]) => `'${name}': { ${step} }`)
      .join(',\n')},
    'no-body': { onRequestBody: (x) => (x.body = null, null), onResponseBody: (x) => (x.responseBody = null, null) },
    'no-content': { onResponseBody: (x) => (x.status = 204, x.responseBody = Buffer.from("HTTP/1.1 200 OK"), null) },
    'changed-later': { onRequest: () => { shared.status = calls++ === 0 ? 200 : 99; return shared } },
  }
  let calls = 0
  const shared = { status: 200, headers: [], body: Buffer.from('fine'), problem: null }
  return { name: 'deeds', ...steps[config.say] }`,
)

function documentOf(engine: string, origin: string): string {
  const says = [...Object.keys(FAILING), ...Object.keys(PASSING), 'changed-later', 'no-content', 'no-body']
  const routes = says.flatMap((say) => {
    const policy = `policies: [{ use: deeds, with: { say: ${say} } }]`
    return [
      `  - { id: own-${say}, match: { path: /own/${say} }, respond: { status: 200, body: fine }, ${policy} }`,
      `  - { id: passed-${say}, match: { path: /passed/${say} }, upstream: origin, ${policy} }`,
    ]
  })
  const continued = Object.keys(CONTINUED).map(
    (say) =>
      `  - { id: ${say}, match: { path: /${say} }, upstream: origin, policies: [{ use: deeds, onError: continue, with: { say: ${say} } }] }`,
  )
  return `version: 1
listeners: [{ address: "127.0.0.1:0", engine: ${engine} }]
workers: 1
log: { sink: none }
plugins: [deeds]
upstreams:
  origin: { targets: ["${origin}"] }
routes:
  - { id: continue, match: { path: /continue }, respond: { status: 200, body: fine }, policies: [{ use: deeds, onError: continue, with: { say: status-99 } }] }
${[...routes, ...continued].join('\n')}
`
}

interface Running {
  readonly url: string
  readonly log: () => string
  /** Request lines that the target received. */
  readonly received: string[]
  /** Body of the last request that the target received. */
  lastBody: string
}

async function running(t: TestContext, engine: string): Promise<Running> {
  const dir = scratch(t)
  installPackage(dir, { name: 'deeds', version: '1.0.0', code: CODE })
  const received: string[] = []
  const origin = createServer(async (request, response) => {
    received.push(`${request.method} ${request.url}`)
    gateway.lastBody = await text(request)
    response.end('fine')
  }).listen(0, '127.0.0.1')
  t.after(() => origin.close())
  await until(() => origin.listening)
  const config = join(dir, 'gateway.yaml')
  writeFileSync(config, documentOf(engine, `http://127.0.0.1:${(origin.address() as AddressInfo).port}`))
  const { stdout, stderr, process: child } = spawnGw(t, startArgs(t, config))
  await until(() => stdout().includes('listening on') || child.exitCode !== null, stderr)
  const url = /listening on (\S+)/.exec(stdout())?.[1] ?? assert.fail(stderr())
  const gateway: Running = { url, log: () => stdout() + stderr(), received, lastBody: '' }
  return gateway
}

/** Returns all bytes of the response, until the connection closes. */
async function bytesOf(url: string, path: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`)
  return text(socket)
}

for (const engine of ['uws', 'node']) {
  test(`${engine}: a response of a plugin that cannot be sent becomes 500`, async (t) => {
    const gateway = await running(t, engine)
    const { url, log, received } = gateway
    const seen = async (path: string): Promise<unknown[]> => {
      const response = await fetch(url + path)
      const body = await response.text()
      return [path, response.status, response.headers.get('x-c'), /"code":"(\w+)"/.exec(body)?.[1] ?? body]
    }
    for (const kind of ['own', 'passed']) {
      for (const say of Object.keys(FAILING)) {
        const path = `/${kind}/${say}`
        assert.deepEqual(await seen(path), [path, 500, null, 'GW_POLICY_ERROR'])
      }
      for (const say of Object.keys(PASSING)) {
        const path = `/${kind}/${say}`
        assert.deepEqual(await seen(path), [path, 200, null, 'fine'])
      }
    }
    for (const kind of ['own', 'passed'])
      assert.match(await bytesOf(url, `/${kind}/no-content`), /^HTTP\/1\.1 204 [\s\S]*\r\n\r\n$/)
    for (const kind of ['own', 'passed']) {
      const response = await fetch(`${url}/${kind}/no-body`, { method: 'POST', body: 'secret' })
      assert.deepEqual([response.status, await response.text(), gateway.lastBody], [200, '', ''], kind)
    }
    // One object for all requests, which the plugin changes after the first.
    assert.equal((await seen('/own/changed-later'))[1], 200)
    assert.equal((await seen('/own/changed-later'))[1], 500)
    assert.deepEqual(await seen('/continue'), ['/continue', 200, null, 'fine'])
    assert.ok(received.includes('PURGE /a/%20?b?c=d'))
    for (const say of Object.keys(CONTINUED)) {
      const path = `/${say}?q=1`
      assert.deepEqual(await seen(path), [path, 200, null, 'fine'])
      assert.equal(received.at(-1), `GET ${path}`)
    }
    await until(
      () => log().includes("policy 'deeds' of the plugin 'deeds': onRequest: it set an invalid query"),
      log,
    )
  })
}
