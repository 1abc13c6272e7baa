import assert from 'node:assert/strict'
import http from 'node:http'
import { test } from 'node:test'
import type { PathPlan } from '@sluice/config'
import { catalog } from '@sluice/policies'
import { type PlanOverrides, startGateway } from '../testing/gateway.js'
import { nginxSkip as skip, startNginx } from '../testing/nginx.js'
import { readAsNode, readAsTomcat, readDecodedFirst } from '../testing/path-readings.js'

// /admin/* requires a key, everything else is open, and all goes to the same upstream: a real nginx, which reports
// the matched location and the received path. The path is also interpreted as by Tomcat and Node.js programs.

const LOCATIONS = `
  add_header x-target $request_uri always;
  location = /admin { return 200 admin; }
  location /admin/ { return 200 admin; }
  location / { return 200 open; }`

const KEY = {
  id: 'key',
  use: 'api-key',
  with: { keys: [{ id: 'acme', sha256: 'a'.repeat(64) }] },
  onError: 'fail' as const,
}

type RouteOverrides = NonNullable<PlanOverrides['routes']>[number]

function route(id: string, path: string, overrides: Partial<RouteOverrides> = {}): RouteOverrides {
  const match = { hosts: [], path: pathPlan(path), methods: [], headers: [], query: [], when: null }
  return { id, match, ...overrides }
}

/** `/a/*`, `/a/{id}` or `~^/a`. */
function pathPlan(text: string): PathPlan {
  if (text.startsWith('~'))
    return { text, kind: 'regex', segments: [{ kind: 'literal', text: text.slice(1) }] }
  const names = text.split('/').slice(1)
  if (names.at(-1) !== '*') {
    const segments = [
      { kind: 'literal' as const, text: names[0]! },
      { kind: 'param' as const, name: 'id' },
    ]
    return { text, kind: 'template', segments }
  }
  return {
    text,
    kind: 'prefix',
    segments: names.slice(0, -1).map((name) => ({ kind: 'literal', text: name })),
  }
}

const OPEN = [
  route('public', '/public/*'),
  route('prefix', '/v1/*', { rewrite: { prefix: '/public', path: null, regex: null, host: 'keep' } }),
  route('template', '/items/{id}', {
    rewrite: { prefix: null, path: '/public/{id}', regex: null, host: 'keep' },
  }),
  route('regex', '/v2/*', {
    rewrite: { prefix: null, path: null, regex: { pattern: '^/v2', replacement: '/public' }, host: 'keep' },
  }),
]
/** An nginx alias without a trailing slash: `/alias../admin` would be `/public/../admin`. */
const ALIAS = route('alias', '~^/alias', {
  rewrite: {
    prefix: null,
    path: null,
    regex: { pattern: '^/alias(.*)$', replacement: '/public/$1' },
    host: 'keep',
  },
})
const BY_ROUTE = [
  route('admin', '/admin/*', { policies: [{ ...KEY, when: null }] }),
  ...OPEN,
  ALIAS,
  route('all', '/*'),
]
const BY_CONDITION = [
  route('all', '/*', {
    policies: [{ ...KEY, when: 'req.path == "/admin" || req.path.startsWith("/admin/")' }],
  }),
]

const SLASHES = ['/', '//', '%2F', '%5c', '\\', '/./', ';/', '/;/', '/;x=1/', '%3B/', '/.;/', '%252F']
const UPS = [
  '',
  '..',
  '%2E%2e',
  '..;',
  '..;x=1',
  '%2e%2e;',
  '..%3B',
  '..%00',
  '%252e%252e',
  '%c0%ae.',
  '...',
  '..%09',
]
const WORDS = [
  ...[
    'admin',
    'admin/a',
    '%61dmin/a',
    'admin;x',
    'admin;x/a',
    'admin%3bx/a',
    'admin%2Fa',
    'a/..;/admin',
    'admin%3F',
  ],
]

/** Combines every slash with every dot-dot segment, and adds paths that contain the plain word. */
function* attacks(): Generator<string> {
  for (const slash of SLASHES) {
    for (const up of UPS) {
      for (const word of WORDS) yield `/alias${up}${slash}${word}`
      for (const word of WORDS) {
        yield join('', slash, up, word)
        yield join('/public', slash, up, word)
      }
      for (const beginning of ['/items', '/v1', '/v2/a']) yield join(beginning, slash, up, 'admin')
      for (const other of ['/', '%2f', ';/']) yield `/public${slash}${up}${other}admin${other}a`
    }
  }
}

function join(beginning: string, slash: string, up: string, rest: string): string {
  const start = beginning === '' && !slash.startsWith('/') ? '/' : ''
  return up === ''
    ? `${start}${beginning}${slash}${rest}`
    : `${start}${beginning}${slash}${up}${slash}${rest}`
}

interface Seen {
  readonly status: number
  readonly body: string
  readonly target: string
}

function ask(port: number, path: string, agent: http.Agent): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const request = http.get({ port, path, agent, host: '127.0.0.1' }, (response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => {
        body += chunk.toString()
      })
      const target = String(response.headers['x-target'] ?? '')
      response.on('end', () => resolve({ status: response.statusCode!, body, target }))
    })
    request.on('error', reject)
  })
}

function isAdmin(path: string | null): boolean {
  return path === '/admin' || path?.startsWith('/admin/') === true
}

/** Servers that read the path as the protected area. */
function readersOf({ status, body, target }: Seen): string[] {
  if (status !== 200) return []
  const readings = {
    tomcat: [readAsTomcat(target)],
    decoding: [readDecodedFirst(target)],
    node: readAsNode(target),
  }
  const readers = Object.entries(readings).filter(([, paths]) => paths.some(isAdmin))
  return [...(body === 'admin' ? ['nginx'] : []), ...readers.map(([name]) => name)]
}

/**
 * Requests every path, several at once. Returns which server reads which path as the protected area, and the number
 * of 200 responses.
 */
async function attack(port: number): Promise<{ readonly found: readonly string[]; readonly served: number }> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 })
  const found: string[] = []
  let served = 0
  const paths = attacks()
  const worker = async (): Promise<void> => {
    for (const path of paths) {
      const seen = await ask(port, path, agent)
      if (seen.status === 200) served++
      for (const reader of readersOf(seen)) found.push(`${reader}: ${path} as ${seen.target}`)
    }
  }
  await Promise.all(Array.from({ length: 16 }, worker))
  agent.destroy()
  return { found, served }
}

test('the paths of this table reach the protected area of unprotected servers', {
  skip,
}, async (t) => {
  const { found } = await attack(await startNginx(t, LOCATIONS))
  for (const reader of ['nginx', 'tomcat', 'decoding', 'node'])
    assert.ok(found.filter((line) => line.startsWith(reader)).length > 50, reader)
})

for (const [paths, name, routes] of [
  ['canonical', 'a route', BY_ROUTE],
  ['as-received', 'a route', BY_ROUTE],
  ['strict', 'a route', BY_ROUTE],
  ['canonical', 'a condition', BY_CONDITION],
] as const) {
  test(`no spelling of a path bypasses the key of ${name} with paths: ${paths}`, { skip }, async (t) => {
    const nginx = await startNginx(t, LOCATIONS)
    const upstreams = [{ urls: [`http://127.0.0.1:${nginx}`] }]
    const gateway = await startGateway(t, { upstreams, routes, listener: { paths } }, { catalog })
    const { found, served } = await attack(gateway.port)
    assert.deepEqual(found.slice(0, 20), [])
    assert.ok(served > (paths === 'strict' ? 10 : 100), `${served} were served`)
  })
}
