import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { PathPlan } from '@sluice/config'
import { catalog } from '@sluice/policies'
import fc from 'fast-check'
import { type PlanOverrides, startGateway } from '../testing/gateway.js'
import { nginxSkip, startNginx } from '../testing/nginx.js'
import { readAsTomcat } from '../testing/path-readings.js'

// Paths with characters that need no escape in a segment. Each of their characters may be sent escaped. Upstreams
// that decode before they choose a resource serve the same one. The upstreams are a real nginx and a real Node.js
// server.

const PROTECTED = [
  '/odata/$batch',
  '/@admin',
  '/all:delete',
  "/Customers('ALL')",
  '/a+b',
  '/x!y&z=1,2',
  '/a~b-c_d.e',
  '/star*',
]

/** Returns a spelling of one of the paths: any of its characters escaped, with hexadecimal digits of any case. */
const SPELLINGS = fc.sample(
  fc.constantFrom(...PROTECTED).chain((path) =>
    fc
      .array(fc.constantFrom('', '', 'upper', 'lower'), { minLength: path.length, maxLength: path.length })
      .map((escapes) =>
        [...path]
          .map((char, i) => {
            const hex = char.charCodeAt(0).toString(16)
            if (char === '/' || escapes[i] === '') return char
            return `%${escapes[i] === 'upper' ? hex.toUpperCase() : hex}`
          })
          .join(''),
      ),
  ),
  { numRuns: 300, seed: 33 },
)

const KEY = {
  id: 'key',
  use: 'api-key',
  with: { keys: [{ id: 'acme', sha256: 'a'.repeat(64) }] },
  onError: 'fail' as const,
}

type Routes = NonNullable<PlanOverrides['routes']>

function route(id: string, path: PathPlan): Routes[number] {
  return { id, match: { hosts: [], path, methods: [], headers: [], query: [], when: null } }
}

function exact(text: string): PathPlan {
  const segments = text.split('/').slice(1)
  return { text, kind: 'exact', segments: segments.map((part) => ({ kind: 'literal', text: part })) }
}

const ALL = route('all', { text: '/*', kind: 'prefix', segments: [] })
const BY_ROUTE: Routes = [
  ...PROTECTED.map((path, i) => ({ ...route(`r${i}`, exact(path)), policies: [{ ...KEY, when: null }] })),
  ALL,
]
/** Returns the path with escapes, as a document may contain it. */
const WHEN = `req.path in ${JSON.stringify(PROTECTED.map((path) => path.replace(/[^\w/.~-]/g, (char) => `%${char.charCodeAt(0).toString(16)}`)))}`
const BY_CONDITION: Routes = [{ ...ALL, policies: [{ ...KEY, when: WHEN }] }]

/** Serves the resource of the decoded path, like static file servers and Node.js frameworks. */
async function startNode(t: TestContext): Promise<number> {
  const server = http.createServer((request, response) => {
    response.setHeader('x-target', request.url!)
    response.end(PROTECTED.includes(decodeURIComponent(request.url!)) ? 'protected' : 'open')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

function startReal(t: TestContext): Promise<number> {
  const places = PROTECTED.map((path) => `location = "${path}" { return 200 protected; }`).join('\n')
  return startNginx(t, `add_header x-target $request_uri always; ${places} location / { return 200 open; }`)
}

interface Seen {
  readonly path: string
  readonly status: number
  readonly body: string
  readonly target: string
}

function ask(port: number, path: string, agent: http.Agent): Promise<Seen> {
  return new Promise((resolve, reject) => {
    http
      .get({ port, path, agent, host: '127.0.0.1' }, (response) => {
        let body = ''
        response.on('data', (chunk: Buffer) => {
          body += chunk.toString()
        })
        const target = String(response.headers['x-target'] ?? '')
        response.on('end', () => resolve({ path, status: response.statusCode!, body, target }))
      })
      .on('error', reject)
  })
}

async function askAll(port: number): Promise<readonly Seen[]> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 })
  const seen = await Promise.all(SPELLINGS.map((path) => ask(port, path, agent)))
  agent.destroy()
  return seen
}

const UPSTREAMS = [
  ['nginx', startReal, nginxSkip],
  ['Node.js', startNode, false],
] as const

for (const [name, start, skip] of UPSTREAMS) {
  test(`${name} and Tomcat's rules serve one resource for every spelling`, { skip }, async (t) => {
    const seen = await askAll(await start(t))
    assert.deepEqual(
      seen.filter(({ body, path }) => body !== 'protected' || !PROTECTED.includes(readAsTomcat(path)!)),
      [],
    )
  })

  for (const engine of ['uws', 'node'] as const)
    for (const paths of ['canonical', 'as-received', 'strict'] as const)
      for (const [by, routes] of [
        ['route', BY_ROUTE],
        ['condition', BY_CONDITION],
      ] as const)
        test(`no escape passes the key of a ${by} before ${name} (${engine}, ${paths})`, {
          skip,
        }, async (t) => {
          const upstreams = [{ urls: [`http://127.0.0.1:${await start(t)}`] }]
          const options = { upstreams, routes, listener: { engine, paths } }
          const { port } = await startGateway(t, options, { catalog })
          const seen = await askAll(port)
          const allowed = paths === 'strict' ? [400, 401] : [401]
          assert.deepEqual(
            seen.filter(({ status }) => !allowed.includes(status)),
            [],
          )
        })
}

for (const engine of ['uws', 'node'] as const) {
  test(`escapes of reserved characters and empty queries reach the target as they came (${engine})`, async (t) => {
    const upstreams = [{ urls: [`http://127.0.0.1:${await startNode(t)}`] }]
    const agent = new http.Agent({ keepAlive: true })
    t.after(() => agent.destroy())
    for (const [paths, cases] of [
      [
        'canonical',
        [
          ['/%61%2b%3a', '/a%2B%3A'],
          ['/items[1]|^{}"<>`', '/items%5B1%5D%7C%5E%7B%7D%22%3C%3E%60'],
          ['/s?', '/s?'],
          ['/s', '/s'],
          ['/s??', '/s??'],
        ],
      ],
      [
        'as-received',
        [
          ['/%61%2b%3a', '/%61%2b%3a'],
          ['/items[1]%7b', '/items%5B1%5D%7b'],
          ['/%61?', '/%61?'],
        ],
      ],
    ] as const) {
      const { port } = await startGateway(t, { upstreams, listener: { engine, paths } })
      for (const [path, target] of cases) assert.equal((await ask(port, path, agent)).target, target, path)
    }
  })

  test(`a strict listener refuses what it would have to escape or decode (${engine})`, async (t) => {
    const upstreams = [{ urls: [`http://127.0.0.1:${await startNode(t)}`] }]
    const { port } = await startGateway(t, { upstreams, listener: { engine, paths: 'strict' } })
    const agent = new http.Agent({ keepAlive: true })
    t.after(() => agent.destroy())
    for (const path of ['/items[1]', '/a|b', '/%24batch'])
      assert.equal((await ask(port, path, agent)).status, 400, path)
    for (const path of ['/$batch', '/%5B1%5D', '/caf%C3%A9'])
      assert.equal((await ask(port, path, agent)).status, 200, path)
  })
}
