import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { gwInProcess } from '../../testing/in-process.js'
import { origin, scratch, startGateway } from '../../testing.js'

interface Imported {
  readonly policies: readonly { readonly id: string; readonly use: string; readonly with: object }[]
  readonly routes: readonly {
    readonly id: string
    readonly policies?: readonly string[]
    readonly match: Readonly<Record<string, unknown>>
  }[]
}

const KONG = `_format_version: "3.0"
consumers:
  - username: acme
    keyauth_credentials: [{ key: secret-key-of-acme }]
    acls: [{ group: partners }]
  - username: guest
    keyauth_credentials: [{ key: secret-key-of-guest }]
    basicauth_credentials: [{ username: guest, password: open sesame }]
upstreams:
  - name: pool
    algorithm: least-connections
    targets: [{ target: "TARGET", weight: 10 }, { target: "10.9.9.9:1", weight: 0 }]
services:
  - name: orders
    url: http://pool/v1
    connect_timeout: 1000
    plugins:
      - name: correlation-id
        config: { header_name: X-Trace, generator: uuid, echo_downstream: true }
    routes:
      - name: open
        paths: [/open]
      - name: raw
        paths: [/raw]
        strip_path: false
      - name: partners
        paths: [/partners, "~/p/(?<id>\\\\d+)$"]
        plugins:
          - { name: key-auth, config: { key_names: [x-key] } }
          - { name: acl, config: { allow: [partners] } }
          - { name: request-transformer, config: { add: { headers: ["x-added:yes"] }, remove: { headers: [x-drop] } } }
      - name: limited
        paths: [/limited]
        methods: [GET]
        plugins: [{ name: rate-limiting, config: { hour: 2, limit_by: ip, policy: local } }]
      - name: canary
        paths: [/open]
        headers: { x-version: ["2"] }
        plugins: [{ name: request-termination, config: { status_code: 418, message: teapot } }]
      - name: secured
        paths: [/secured]
        plugins: [{ name: openid-connect, config: { issuer: https://login.example.com } }]
      - name: office
        paths: [/office]
        plugins: [{ name: ip-restriction, config: { allow: [10.0.0.0/8] } }]
`

test('a gateway serves an imported configuration as Kong does', async (t) => {
  const dir = scratch(t)
  const upstream = await origin(t, (req, res) =>
    res.end(`${req.url} ${req.headers['x-added'] ?? '-'} ${req.headers['x-drop'] ?? '-'}`),
  )
  writeFileSync(join(dir, 'kong.yaml'), KONG.replace('TARGET', new URL(upstream).host))
  const imported = await gwInProcess(['import', 'kong', 'kong.yaml', '--out', 'gateway.yaml'], { cwd: dir })
  assert.equal(imported.code, 2, imported.stderr)
  assert.match(
    imported.stderr,
    /Security: check these before you deploy:\n {2}kong\.yaml:\d+: plugin openid-connect: .*\n {4}use the policy oidc or jwt/,
  )
  const consumers = readFileSync(join(dir, 'consumers.jsonl'), 'utf8')
  assert.doesNotMatch(consumers, /secret-key|sesame/)
  assert.equal(statSync(join(dir, 'consumers.jsonl')).mode & 0o777, 0o600)
  assert.deepEqual(
    consumers
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string; groups?: string[] }).groups),
    [['partners'], undefined],
  )
  const document = readFileSync(join(dir, 'gateway.yaml'), 'utf8')
    .replace('*:8000', '127.0.0.1:0')
    .replaceAll('consumers.jsonl', join(dir, 'consumers.jsonl'))
    .replace('version: 1', 'version: 1\nadmin: { address: "127.0.0.1:0" }\nworkers: 1\nlog: { sink: none }')
  const gateway = await startGateway(t, document)
  const ask = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(`${gateway.url}${path}`, { headers })
    const text = await response.text()
    return [response.status, response.status === 200 ? text : '']
  }
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, number, string])[] = [
    ['/open/x?q=1', {}, 200, '/v1/x?q=1 - -'],
    ['/openx', {}, 200, '/v1/x - -'],
    ['/open', { 'x-version': '2' }, 418, ''],
    ['/raw/x', {}, 200, '/v1/raw/x - -'],
    ['/partners/a', {}, 401, ''],
    ['/partners/a', { 'x-key': 'wrong' }, 401, ''],
    ['/partners/a', { 'x-key': 'secret-key-of-guest' }, 403, ''],
    ['/partners/a', { 'x-key': 'secret-key-of-acme', 'x-drop': 'x' }, 200, '/v1/a yes -'],
    ['/p/7', { 'x-key': 'secret-key-of-acme' }, 200, '/v1/ yes -'],
    ['/limited', {}, 200, '/v1/ - -'],
    ['/limited', {}, 200, '/v1/ - -'],
    ['/limited', {}, 429, ''],
    ['/secured', {}, 503, ''],
    ['/office', {}, 403, ''],
    ['/none', {}, 404, ''],
  ]
  for (const [path, headers, status, text] of cases)
    assert.deepEqual(await ask(path, headers), [status, text], `${path} ${JSON.stringify(headers)}`)
})

test('plugins become policies, and plugins that protect and are not mapped close their route', async (t) => {
  const dir = scratch(t)
  const plugins: readonly (readonly [string, string, string])[] = [
    ['cors', '{ origins: ["https://a.example.com"], credentials: true, max_age: 60 }', 'cors'],
    ['basic-auth', '{ hide_credentials: true }', 'basic-auth'],
    ['request-size-limiting', '{ allowed_payload_size: 2 }', 'body-limit'],
    ['response-transformer', '{ add: { headers: ["x-a:b"] } }', 'header'],
    ['proxy-cache', '{ strategy: memory, cache_ttl: 30 }', 'response-cache'],
    ['bot-detection', '{}', 'not-imported'],
    ['hmac-auth', '{}', 'not-imported'],
    ['acl', '{ allow: [a] }', 'not-imported'],
    ['rate-limiting', '{ month: 5 }', 'not-imported'],
    ['my-own-plugin', '{}', 'not-imported'],
    ['jwt', '{}', 'not-imported'],
  ]
  const routes = plugins.map(
    ([name, config], i) =>
      `{ name: r${i}, paths: [/r${i}], plugins: [{ name: ${name}, config: ${config} }] }`,
  )
  writeFileSync(
    join(dir, 'kong.yaml'),
    `_format_version: "2.1"\nservices: [{ name: s, host: s.example.com, routes: [${routes.join(', ')}] }]\nplugins: [{ name: prometheus }]`,
  )
  const { stdout, stderr } = await gwInProcess(['import', 'kong', 'kong.yaml'], { cwd: dir })
  const document = parse(stdout) as Imported
  const uses = document.routes.map(
    ({ policies = [] }) => document.policies.find(({ id }) => id === policies[0])?.id,
  )
  assert.deepEqual(
    uses,
    plugins.map(([name, , use]) => (use === 'not-imported' ? use : name)),
    stderr,
  )
  assert.deepEqual(
    document.routes.map(({ match }) => match['path']),
    plugins.map((_, i) => `~^/r${i}`),
  )
})

/** Returns the statuses of requests as `METHOD host path [header=value]`, sent to an imported configuration. */
async function statusesOf(t: TestContext, config: string, asks: readonly string[]): Promise<string[]> {
  const dir = scratch(t)
  const upstream = await origin(t, (_, res) => res.end())
  writeFileSync(join(dir, 'kong.yaml'), `_format_version: "3.0"\n${config.replaceAll('URL', upstream)}`)
  const imported = await gwInProcess(['import', 'kong', 'kong.yaml', '--out', 'gateway.yaml'], { cwd: dir })
  assert.ok(imported.code === 0 || imported.code === 2, imported.stderr)
  const document = readFileSync(join(dir, 'gateway.yaml'), 'utf8')
    .replace('*:8000', '127.0.0.1:0')
    .replaceAll('consumers.jsonl', join(dir, 'consumers.jsonl'))
    .replace('version: 1', 'version: 1\nadmin: { address: "127.0.0.1:0" }\nworkers: 1\nlog: { sink: none }')
  const gateway = await startGateway(t, document)
  const statuses: string[] = []
  for (const ask of asks) {
    const [host = '', path = '', field] = ask.split(' ')
    const [name = '', value = ''] = field?.split('=') ?? []
    const { port } = new URL(gateway.url)
    const headers = { host, ...(name !== '' && { [name]: value }) }
    const status = await new Promise<number | undefined>((resolve, reject) =>
      http
        .get({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
        .on('error', reject),
    )
    statuses.push(`${ask} ${status}`)
  }
  return statuses
}

test('requests of a route that cannot be expressed do not reach a less protected one', async (t) => {
  const closed = '{ name: ip-restriction, config: { deny: ["0.0.0.0/0"] } }'
  const config = `services:
  - name: s
    url: URL
    routes:
      - { name: open, paths: [/] }
      - { name: look, paths: ['~/look/(?!public)'] }
      - { name: again, paths: ['~/again/(a+)/\\1$'] }
      - { name: tls, paths: [/tls], protocols: [https], plugins: [${closed}] }
      - { name: tls-moved, paths: [/moved], protocols: [https], https_redirect_status_code: 301 }
      - { name: hosts, hosts: [a.test, "b.*", "*.c.test"], plugins: [${closed}] }
      - { name: port, hosts: ["d.test:8443"], paths: [/port] }
      - { name: words, paths: [/words], headers: { x-kind: [Secret] }, plugins: [${closed}] }
      - { name: pattern, paths: [/pattern], headers: { x-kind: ["~*^s"] } }
      - { name: encoded, paths: ["/a%20b"], plugins: [${closed}] }
      - { name: stream, protocols: [tcp] }
  - name: disabled
    enabled: false
    url: URL
    routes: [{ name: off, paths: [/off/x] }]
`
  const asks = [
    'x.test / 200',
    'x.test /look/x 503',
    'x.test /again/a/a 503',
    'x.test /tls 426',
    'x.test /tls/x 426',
    'x.test /%74ls 426',
    'x.test /moved 301',
    'a.test /other 403',
    'b.org / 403',
    'x.c.test / 403',
    'd.test /port 503',
    'x.test /words 200',
    'x.test /words x-kind=secret 403',
    'x.test /words x-kind=other 200',
    'x.test /pattern x-kind=s 503',
    'x.test /a%20b 403',
  ]
  assert.deepEqual(
    await statusesOf(
      t,
      config,
      asks.map((one) => one.replace(/ \d+$/, '')),
    ),
    asks,
  )
})

test('plugins apply to the routes that they name, and the most specific one decides', async (t) => {
  const ip = (list: string, more = '') => `{ name: ip-restriction, config: ${list}, ${more} }`
  const [allow, deny] = ['{ allow: ["127.0.0.1"] }', '{ deny: ["127.0.0.1"] }']
  const config = `consumers: [{ username: ann, plugins: [{ name: rate-limiting, config: { minute: 1 } }] }]
plugins:
  - ${ip(deny)}
  - ${ip(allow, 'service: { id: id-of-s }')}
  - ${ip(deny, 'route: { id: id-of-r }')}
  - ${ip(allow, 'service: two, route: loose')}
  - ${ip(allow, 'service: two, consumer: ann')}
services:
  - { name: s, id: id-of-s, url: URL, routes: [{ name: allowed, paths: [/allowed] }, { name: r, id: id-of-r, paths: [/denied] },
      { name: off, paths: [/off], plugins: [${ip(deny, 'enabled: false')}] }, { name: users, paths: [/users], plugins: [{ name: key-auth }] }] }
  - { name: two, url: URL, routes: [{ name: global, paths: [/global] }, { name: loose, paths: [/loose] }] }
routes: [{ name: third, paths: [/third], service: { name: two } }]
`
  const asks = [
    'a /allowed 200',
    'a /denied 403',
    'a /off 200',
    'a /users 503',
    'a /global 403',
    'a /loose 200',
    'a /third 403',
  ]
  assert.deepEqual(
    await statusesOf(
      t,
      config,
      asks.map((one) => one.replace(/ \d+$/, '')),
    ),
    asks,
  )
})
