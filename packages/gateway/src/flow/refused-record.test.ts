import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendRaw, statusesOf } from '../testing/raw-client.js'
import { startLogged } from '../testing/traffic-records.js'

// Requests that a listener refuses before routing are reported like any other.

const HOST = 'Host: a.example\r\n'
const REFUSED: readonly { readonly name: string; readonly bytes: string; readonly code: string }[] = [
  { name: 'with a bad Host', bytes: 'GET /a HTTP/1.1\r\nHost: a..\r\n\r\n', code: 'GW_BAD_REQUEST' },
  { name: 'with two Hosts', bytes: `GET /a HTTP/1.1\r\n${HOST}hOST: b\r\n\r\n`, code: 'GW_BAD_REQUEST' },
  { name: 'with a bad method', bytes: `G(T /a HTTP/1.1\r\n${HOST}\r\n`, code: 'GW_BAD_REQUEST' },
  {
    name: 'with a method in lower case',
    bytes: `post /a HTTP/1.1\r\n${HOST}\r\n`,
    code: 'GW_METHOD_NOT_SUPPORTED',
  },
  { name: 'to trace', bytes: `TRACE /a HTTP/1.1\r\n${HOST}\r\n`, code: 'GW_METHOD_NOT_SUPPORTED' },
  { name: 'with a bad path', bytes: `GET /a%zz HTTP/1.1\r\n${HOST}\r\n`, code: 'GW_BAD_REQUEST' },
  { name: 'with an escaped slash', bytes: `GET /a%2fb HTTP/1.1\r\n${HOST}\r\n`, code: 'GW_BAD_REQUEST' },
  { name: 'with hidden dots', bytes: `GET /a/..;/b HTTP/1.1\r\n${HOST}\r\n`, code: 'GW_BAD_REQUEST' },
  { name: 'with a bad query', bytes: `GET /a?b#c HTTP/1.1\r\n${HOST}\r\n`, code: 'GW_BAD_REQUEST' },
  {
    name: 'with a long URL',
    bytes: `GET /${'a'.repeat(1500)} HTTP/1.1\r\n${HOST}\r\n`,
    code: 'GW_URL_TOO_LONG',
  },
  {
    name: 'with a large field',
    bytes: `GET /a HTTP/1.1\r\n${HOST}A: ${'a'.repeat(2100)}\r\n\r\n`,
    code: 'GW_HEADERS_TOO_LARGE',
  },
  {
    name: 'with a head that is large in all',
    bytes: `GET /${'a'.repeat(900)} HTTP/1.1\r\n${HOST}A: ${'a'.repeat(1300)}\r\n\r\n`,
    code: 'GW_HEADERS_TOO_LARGE',
  },
  {
    name: 'with many fields',
    bytes: `GET /a HTTP/1.1\r\n${HOST}${'A: 1\r\n'.repeat(20)}\r\n`,
    code: 'GW_HEADERS_TOO_LARGE',
  },
  {
    name: 'with a field that is not ASCII',
    bytes: `GET /a HTTP/1.1\r\n${HOST}A: b\xe9c\r\n\r\n`,
    code: 'GW_BAD_REQUEST',
  },
  {
    name: 'with a bad length',
    bytes: `POST /a HTTP/1.1\r\n${HOST}Content-Length: +1\r\n\r\na`,
    code: 'GW_BAD_REQUEST',
  },
  {
    name: 'with two codings',
    bytes: `POST /a HTTP/1.1\r\n${HOST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    code: 'GW_CODING_NOT_SUPPORTED',
  },
  {
    name: 'with a large body',
    bytes: `POST /a HTTP/1.1\r\n${HOST}Content-Length: 2000\r\n\r\na`,
    code: 'GW_BODY_TOO_LARGE',
  },
  {
    name: 'to upgrade',
    bytes: `GET /a HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: tunnel/1\r\n\r\n`,
    code: 'GW_UPGRADE_NOT_SUPPORTED',
  },
  {
    name: 'from a hop without address',
    bytes: `GET /a HTTP/1.1\r\n${HOST}X-Forwarded-For: unknown\r\n\r\n`,
    code: 'GW_BAD_REQUEST',
  },
]

interface Logged {
  readonly id: string
  readonly client: { readonly ip: string }
  readonly http: { readonly method: string }
  readonly url: { readonly path: string }
  readonly res: { readonly status: number }
  readonly req: { readonly bytes_h: number }
  readonly error: { readonly code: string }
}

test('each request that the listener refuses leaves one record with all that is known', async (t) => {
  const limits = { urlBytes: 1024, headerBytes: 2048, headers: 10, bodyBytes: 1000 }
  const listener = { limits, trustedProxies: ['127.0.0.1/32'] }
  const gateway = await startLogged(t, { listener, routes: [{ id: 'all', action: ANSWER }] })
  const answers: { readonly status: number; readonly id: string }[] = []
  for (const { name, bytes } of REFUSED) {
    const { text } = await sendRaw(gateway.port, [Buffer.from(bytes, 'latin1')])
    // The engine itself answers a bad Content-Length (docs/guides/engines.md).
    if (name !== 'with a bad length') assert.match(text, /application\/problem\+json/, name)
    answers.push({ status: statusesOf(text)[0]!, id: /x-request-id: (\S+)/.exec(text)?.[1] ?? '' })
  }
  const records = (await gateway.records()) as unknown as Logged[]
  assert.equal(records.length, REFUSED.length)
  for (const [i, { name, bytes, code }] of REFUSED.entries()) {
    const reported = records[i]!
    if (answers[i]!.id !== '') assert.equal(reported.id, answers[i]!.id, name)
    const [method, target] = bytes.split(' ')
    assert.equal(reported.http.method, method, name)
    assert.ok(
      reported.url.path !== '' && target!.toLowerCase().startsWith(reported.url.path.toLowerCase()),
      name,
    )
    assert.ok(reported.url.path.length <= 1024, name)
    assert.deepEqual(
      [reported.error.code, reported.res.status, reported.client.ip],
      [code, answers[i]!.status, '127.0.0.1'],
      name,
    )
  }
})

const ANSWER = { kind: 'respond' as const, status: 200, headers: [], body: '' }

test('the size of a head is exact, with a query, with an empty one and without', async (t) => {
  const gateway = await startLogged(t, { routes: [{ id: 'all', action: ANSWER }] })
  const heads = ['/a', '/a?', '/a?b=1'].map(
    (target) => `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
  )
  for (const head of heads) await sendRaw(gateway.port, [head])
  const records = (await gateway.records()) as unknown as Logged[]
  assert.deepEqual(
    records.map(({ req }) => req.bytes_h),
    heads.map((head) => head.length),
  )
})
