import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import http2 from 'node:http2'
import https from 'node:https'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gw, origin, type RunningGateway, scratch, startGateway, until } from './testing.js'

const EXAMPLES = fileURLToPath(new URL('../../../examples', import.meta.url))

/** Starts an example, on free ports, with targets that are at hand. */
function startExample(
  t: TestContext,
  name: string,
  targets: Readonly<Record<string, string>>,
  more = '',
): Promise<RunningGateway> {
  let text = readFileSync(join(EXAMPLES, name, 'gateway.yaml'), 'utf8')
  for (const [written, used] of Object.entries(targets)) text = text.replaceAll(written, used)
  // A free port each, of addresses that differ.
  let host = 1
  text = text.replaceAll(/address: 127\.0\.0\.1:\d+/g, () => `address: 127.0.0.${host++}:0`)
  return startGateway(
    t,
    `${text}\nadmin: { address: '127.0.0.1:0' }\nworkers: 1\nlog: { sink: none }\n${more}`,
  )
}

test('the consumers example lets partners read and staff do everything', async (t) => {
  const echo = await origin(t, (request, response) => response.end(request.headers['x-consumer-id'] ?? ''))
  const { url } = await startExample(t, 'consumers', { 'http://127.0.0.1:9001': echo })
  const ask = async (method: string, key?: string) => {
    const headers = { 'x-consumer-id': 'root', ...(key !== undefined && { 'x-api-key': key }) }
    const response = await fetch(`${url}/orders/1`, { method, headers })
    return [response.status, response.headers.get('x-gw-error') ?? (await response.text())]
  }
  assert.deepEqual(await ask('GET', 'partner-demo-key-0000'), [200, 'acme'])
  assert.deepEqual(await ask('DELETE', 'partner-demo-key-0000'), [403, 'GW_ACCESS_DENIED'])
  assert.deepEqual(await ask('DELETE', 'staff-demo-key-0000000'), [200, 'ann'])
  assert.deepEqual(await ask('GET'), [401, 'GW_AUTH_MISSING'])
})

test('the protocols example serves two host names over HTTP/2 to clients with a certificate', async (t) => {
  const folder = scratch(t)
  cpSync(join(EXAMPLES, 'protocols'), folder, { recursive: true })
  execFileSync('sh', [join(folder, 'certificates.sh')])
  const echo = await origin(t, (request, response) => response.end(request.url))
  const gateway = await startExample(t, 'protocols', {
    'http://127.0.0.1:9000': echo,
    'tls/': `${folder}/tls/`,
  })
  const { listeners } = (await (await fetch(`${gateway.admin}/v1/status`)).json()) as {
    listeners: { url: string }[]
  }
  const [main = '', closed = ''] = listeners.map(({ url }) => url)
  const read = (file: string): Buffer => readFileSync(join(folder, 'tls', file))
  for (const [servername, url] of [
    ['shop.example.com', '/a'],
    ['api.example.com', '/api/a'],
  ] as const) {
    const session = http2.connect(main, { servername, ca: read('ca.pem') })
    t.after(() => session.destroy())
    const stream = session.request({ ':path': '/a', ':authority': servername }).setEncoding('utf8')
    assert.deepEqual((await stream.toArray()).join(''), url)
  }

  const options = { servername: 'api.example.com', ca: read('ca.pem') }
  await assert.rejects(get(closed, options))
  const own = { cert: read('client.pem'), key: read('client.key') }
  assert.equal(await get(closed, { ...options, ...own }), 200)
})

function get(url: string, options: https.RequestOptions): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    https
      .get(url, { ...options, agent: false }, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
  })
}

test('the resilience example hides a failed target and retries 503 responses', async (t) => {
  const seen: string[] = []
  const named = (name: string) =>
    origin(t, (request, response) => {
      if (request.url !== '/healthz') seen.push(name)
      response.writeHead(request.url === '/status/503' ? 503 : 200).end(name)
    })
  const [a, c, d] = [await named('a'), await named('canary'), await named('failover')]
  const gateway = await startExample(t, 'resilience', {
    'http://127.0.0.1:9001': a,
    'http://127.0.0.1:9002': 'http://127.0.0.1:1', // nobody listens there
    'http://127.0.0.1:9003': c,
    'http://127.0.0.1:9004': d,
  })
  const body = async (path: string, headers: Record<string, string> = {}): Promise<string> =>
    (await fetch(`${gateway.url}${path}`, { headers })).text()
  assert.equal(await body('/orders/1', { 'x-canary': '1' }), 'canary')
  assert.equal(await body('/orders/1', { cookie: 'canary=1' }), 'canary')
  for (let count = 0; count < 20; count++)
    assert.ok(['a', 'canary'].includes(await body('/reports/1', { 'x-user': 'of one side' })))

  const run = (...args: string[]) => gw(args, { env: { GW_SERVER: gateway.admin, GW_TOKEN: '' } })
  assert.equal((await run('upstream', 'drain', 'orders', a)).code, 0)
  assert.match((await run('upstream', 'health', 'orders')).stdout, new RegExp(`${a} +yes`))
  assert.equal((await run('upstream', 'undrain', 'orders', a)).code, 0)

  seen.length = 0
  await body('/orders/status/503', { 'x-canary': '1' })
  assert.equal(seen.length, 2)
})

test("the limits example rejects a consumer's eleventh request and counts the upstream's cost", async (t) => {
  const echo = await origin(t, (_, response) => response.writeHead(200, { 'x-cost': '7' }).end())
  const gateway = await startExample(t, 'limits', { 'http://127.0.0.1:9001': echo })
  const headers = { 'x-api-key': 'limits-demo-key-0000' }
  const ask = async (path: string) => (await fetch(`${gateway.url}${path}`, { headers })).status
  for (let count = 0; count < 10; count++) assert.equal(await ask('/reports/1'), 200)
  assert.equal(await ask('/reports/1'), 429)
  assert.equal(await ask('/public/1'), 200)
  const env = { GW_SERVER: gateway.admin, GW_TOKEN: '' }
  // What the worker has not used goes back first, and what it owes is taken.
  await until(async () => / demo +70 /.test((await gw(['quota', 'get', 'monthly', 'demo'], { env })).stdout))
})
