import assert from 'node:assert/strict'
import http from 'node:http'
import { type TestContext, test } from 'node:test'
import zlib from 'node:zlib'
import type { PolicyUse } from '@sluice/config'
import { catalog } from '@sluice/policies'
import { type PlanOverrides, until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'
import { startLogged } from '../testing/traffic-records.js'

const LINE = 'every line is like the one before it, which is good for compression\n'
const SMALL = LINE.repeat(30)
const LARGE = LINE.repeat(10_000)

interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly raw: Buffer
}

/** Sends a request without decoding the response, unlike `fetch`. */
function ask(
  port: number,
  path: string,
  headers: http.OutgoingHttpHeaders = {},
  method = 'GET',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request({ port, path, method, headers, agent: false }, (res) => {
      const chunks: Buffer[] = []
      res.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
      res.on('end', () =>
        resolve({ status: res.statusCode!, headers: res.headers, raw: Buffer.concat(chunks) }),
      )
    })
    request.on('error', reject).end()
  })
}

function plainOf({ headers, raw }: Answer): string {
  const coding = headers['content-encoding']
  if (coding === 'gzip') return zlib.gunzipSync(raw).toString()
  return (coding === 'br' ? zlib.brotliDecompressSync(raw) : raw).toString()
}

function use(name: string, config: object): PolicyUse {
  return { id: name, use: name, with: config, when: null, onError: 'fail' }
}

interface Setting {
  readonly config?: object
  readonly more?: readonly PolicyUse[]
  readonly overrides?: PlanOverrides
}

async function serve(t: TestContext, handler: http.RequestListener, setting: Setting = {}) {
  const { config = {}, more = [], overrides = {} } = setting
  const origin = await httpOrigin(t, handler)
  const routes = [{ id: 'all', policies: [use('compress', config), ...more] }]
  return startLogged(
    t,
    { upstreams: [{ urls: [origin.url], connections: 512 }], routes, ...overrides },
    {},
    { catalog },
  )
}

/** Responds with the headers and the body in the query. */
const asAsked: http.RequestListener = (req, res) => {
  const { searchParams } = new URL(req.url!, 'http://a')
  const body = searchParams.get('body') === 'large' ? LARGE : SMALL
  const fields = Object.fromEntries(new URLSearchParams(searchParams.get('fields') ?? ''))
  const status = Number(searchParams.get('status') ?? 200)
  const isChunked = searchParams.has('chunked')
  const length = isChunked ? {} : { 'content-length': body.length }
  res.writeHead(status, {
    'content-type': 'text/plain',
    etag: '"1"',
    'accept-ranges': 'bytes',
    ...length,
    ...fields,
  })
  res.end(body)
}

function pathOf(fields: Record<string, string>, more: Record<string, string> = {}): string {
  return `/?${new URLSearchParams({ fields: new URLSearchParams(fields).toString(), ...more })}`
}

for (const engine of ['uws', 'node'] as const) {
  test(`${engine}: bodies of every size and framing are compressed as the client likes it, and are the same behind it`, async (t) => {
    const { port, records } = await serve(t, asAsked, { overrides: { listener: { engine } } })
    const sizes: number[] = []
    for (const [accepted, coding] of [
      ['gzip', 'gzip'],
      ['gzip, deflate, br', 'br'],
      ['br;q=0.1, gzip', 'gzip'],
    ] as const) {
      for (const more of [{}, { chunked: '' }, { body: 'large' }, { body: 'large', chunked: '' }]) {
        const answer = await ask(port, pathOf({}, more), { 'accept-encoding': accepted })
        assert.equal(answer.headers['content-encoding'], coding)
        assert.equal(plainOf(answer), 'body' in more ? LARGE : SMALL)
        assert.ok(
          answer.raw.length * 10 < ('body' in more ? LARGE : SMALL).length,
          `${answer.raw.length} bytes`,
        )
        assert.equal(answer.headers.etag, 'W/"1"')
        assert.equal(answer.headers.vary, 'Accept-Encoding')
        assert.equal(answer.headers['accept-ranges'], undefined)
        const { 'content-length': length } = answer.headers
        if (length !== undefined) assert.equal(Number(length), answer.raw.length)
        sizes.push(answer.raw.length)
      }
    }
    const logged = (await records()).map(({ res }) => (res as { bytes_b: number }).bytes_b)
    assert.deepEqual(logged, sizes)
  })
}

test('without Accept-Encoding, or with identity preferred, the body is unchanged and Vary is set', async (t) => {
  const { port } = await serve(t, asAsked)
  for (const accepted of [
    undefined,
    'identity',
    'gzip;q=0',
    'zstd',
    'identity;q=1, gzip;q=0.5',
    `${'a,'.repeat(1000)}gzip`,
  ]) {
    const headers = accepted === undefined ? {} : { 'accept-encoding': accepted }
    const answer = await ask(port, '/', headers)
    assert.equal(answer.headers['content-encoding'], undefined, accepted)
    assert.equal(answer.raw.toString(), SMALL)
    assert.equal(answer.headers.etag, '"1"')
    assert.equal(answer.headers.vary, 'Accept-Encoding')
  }
})

test('bodies that must not change or would not shrink are not compressed', async (t) => {
  const { port } = await serve(t, asAsked)
  for (const fields of [
    { 'content-encoding': 'zstd' },
    { 'cache-control': 'public, No-Transform' },
    { 'content-type': 'image/png' },
    { 'content-type': 'text/event-stream' },
    { 'content-digest': 'sha-256=:YQ==:' },
    { 'content-range': 'bytes 0-2099/9999' },
  ]) {
    const answer = await ask(port, pathOf(fields), { 'accept-encoding': 'gzip' })
    assert.equal(answer.headers['content-encoding'], (fields as Record<string, string>)['content-encoding'])
    assert.equal(answer.raw.toString(), SMALL, JSON.stringify(fields))
    assert.equal(answer.headers.etag, '"1"')
    assert.equal(answer.headers.vary, undefined)
  }
  const part = await ask(port, pathOf({}, { status: '206' }), { 'accept-encoding': 'gzip' })
  assert.deepEqual([part.status, part.raw.toString()], [206, SMALL])
  const star = await ask(port, pathOf({ vary: '*' }), { 'accept-encoding': 'gzip' })
  assert.equal(star.headers.vary, '*')
})

test('short bodies are compressed only if identity is refused, and errors like successes', async (t) => {
  const { port } = await serve(t, asAsked, { config: { minBytes: '4kb' } })
  const short = await ask(port, '/', { 'accept-encoding': 'gzip' })
  assert.equal(short.headers['content-encoding'], undefined)
  const forced = await ask(port, '/', { 'accept-encoding': 'gzip, identity;q=0' })
  assert.equal(plainOf(forced), SMALL)
  assert.equal(forced.headers['content-encoding'], 'gzip')
  const failed = await ask(port, pathOf({}, { status: '500', body: 'large' }), { 'accept-encoding': 'gzip' })
  assert.deepEqual([failed.status, plainOf(failed)], [500, LARGE])
})

test('HEAD has the fields of GET and promises no length; 304 has the ETag of what the client has', async (t) => {
  const { port } = await serve(t, asAsked)
  const head = await ask(port, '/', { 'accept-encoding': 'gzip' }, 'HEAD')
  assert.deepEqual(
    [head.headers['content-encoding'], head.headers['content-length'], head.headers.etag, head.raw.length],
    ['gzip', undefined, 'W/"1"', 0],
  )
  const same = await ask(port, pathOf({}, { status: '304' }), {
    'accept-encoding': 'gzip',
    'if-none-match': 'W/"1"',
  })
  assert.deepEqual([same.status, same.headers.etag, same.headers.vary], [304, 'W/"1"', 'Accept-Encoding'])
})

test('responses of the gateway and bodies changed by policies are compressed too', async (t) => {
  const response = { jsonata: { inline: '{"text": text & text}' } }
  const transform = use('transform', { response, timeout: '5s' })
  const answers: http.RequestListener = (_, res) =>
    res.setHeader('content-type', 'application/json').end(JSON.stringify({ text: SMALL }))
  const proxied = await serve(t, answers, { more: [transform] })
  const made = await ask(proxied.port, '/', { 'accept-encoding': 'gzip' })
  assert.equal(made.headers['content-encoding'], 'gzip')
  assert.deepEqual(JSON.parse(plainOf(made)), { text: SMALL + SMALL })
  const action = {
    kind: 'respond' as const,
    status: 200,
    headers: [['content-type', 'text/plain']] as const,
    body: SMALL,
  }
  const routes = [{ id: 'all', policies: [use('compress', {})], action, timeouts: null }]
  const own = await serve(t, answers, { overrides: { routes } })
  const answer = await ask(own.port, '/', { 'accept-encoding': 'br' })
  assert.equal(answer.headers['content-encoding'], 'br')
  assert.equal(plainOf(answer), SMALL)
})

test('events of a stream are sent at once if event streams are configured', async (t) => {
  let next = (): void => {}
  const events: http.RequestListener = (_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
    next = () => res.end('data: 2\n\n')
  }
  const { port } = await serve(t, events, { config: { types: ['text/event-stream'] } })
  for (const [coding, decoder] of [
    ['gzip', zlib.createGunzip()],
    ['br', zlib.createBrotliDecompress()],
  ] as const) {
    let text = ''
    decoder.on('data', (chunk: Buffer) => (text += String(chunk)))
    http.get({ port, headers: { 'accept-encoding': coding }, agent: false }, (res) => res.pipe(decoder))
    await until(() => text === 'data: 1\n\n')
    next()
    await until(() => text === 'data: 1\n\ndata: 2\n\n')
  }
})

test('cross-site requests with cookies are not compressed', async (t) => {
  const { port } = await serve(t, asAsked)
  const crossSite = { 'accept-encoding': 'gzip', 'sec-fetch-site': 'cross-site' }
  const attacked = await ask(port, '/', { ...crossSite, cookie: 'id=1' })
  assert.equal(attacked.headers['content-encoding'], undefined)
  for (const headers of [crossSite, { ...crossSite, 'sec-fetch-site': 'same-origin', cookie: 'id=1' }])
    assert.equal((await ask(port, '/', headers)).headers['content-encoding'], 'gzip')
  const open = await serve(t, asAsked, { config: { crossSite: true } })
  assert.equal(
    (await ask(open.port, '/', { ...crossSite, cookie: 'id=1' })).headers['content-encoding'],
    'gzip',
  )
})

test('compression memory for slow clients is limited, others then get uncompressed bodies', async (t) => {
  const held: http.ServerResponse[] = []
  const gateway = await serve(t, (req, res) => {
    if (req.url !== '/held') return asAsked(req, res)
    held.push(res)
    return res.writeHead(200, { 'content-type': 'text/plain' }).write(LINE)
  })
  const before = process.memoryUsage().rss
  const clients = Array.from({ length: 400 }, () => {
    const request = http.get({
      port: gateway.port,
      path: '/held',
      headers: { 'accept-encoding': 'gzip' },
      agent: false,
    })
    return request.on('error', () => {})
  })
  await until(() => held.length === clients.length)
  const large = pathOf({}, { body: 'large' })
  const crowded = await ask(gateway.port, large, { 'accept-encoding': 'gzip' })
  assert.equal(crowded.headers['content-encoding'], undefined)
  assert.equal(crowded.raw.toString(), LARGE)
  const grown = process.memoryUsage().rss - before
  assert.ok(grown < 200 * 1024 * 1024, `${grown} bytes more`)
  for (const client of clients) client.destroy()
  await until(async () => {
    const answer = await ask(gateway.port, large, { 'accept-encoding': 'gzip' })
    return answer.headers['content-encoding'] === 'gzip'
  })
})

test('a truncated upstream body yields an invalid compressed one', async (t) => {
  const { port } = await serve(t, (_, res) => {
    res.writeHead(200, { 'content-type': 'text/plain' })
    res.write(LARGE, () => res.destroy())
  })
  await assert.rejects(ask(port, '/', { 'accept-encoding': 'gzip' }))
})
