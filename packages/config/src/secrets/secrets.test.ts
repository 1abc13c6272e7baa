import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { diffBundles, diffPlans, formatDiff } from '../compare/diff-plans.js'
import { displayPlan } from '../compare/display-plan.js'
import { type LoadResult, loadDocument } from '../load/load-document.js'
import { resolvePlan } from '../resolve/resolve-plan.js'
import { readSampleFile, SAMPLE_CATALOG } from '../testing/sample-catalog.js'
import { loadOrThrow } from '../testing.js'

const SECRET = 'Zq7-unlikely.word'

function load(text: string, env: Record<string, string> = { S: SECRET }): LoadResult {
  return loadDocument(
    { text, name: 'g.yaml' },
    { catalog: SAMPLE_CATALOG, env, readFile: readSampleFile, readEnd: readSampleFile },
  )
}

const FREE_TEXT = `
version: 1
admin: { address: 127.0.0.1:1, tokens: [{ id: a, sha256: '\${env:HASH}' }] }
upstreams: { a: { targets: ['\${env:URL}'] } }
routes:
  - id: r
    match: { path: /*, headers: { x-key: 'Key \${env:S}' }, when: 'req.header["k"] == "\${env:S}"' }
    upstream: a
    policies: [{ use: secret-box, with: { users: [{ name: '\${file:secret.txt}', password: '\${env:S}' }] } }]
  - { id: t, match: { path: /t }, respond: { headers: { x-s: '\${env:S}' }, body: { s: '\${env:S}' } } }
`
const FREE_TEXT_ENV = { S: SECRET, HASH: 'ab'.repeat(32), URL: 'http://secret-host:81/' }

test('the plan keeps the references of free text and secrets, and their values travel beside it', () => {
  const result = load(FREE_TEXT, FREE_TEXT_ENV)
  assert.ok(result.ok)
  const printed = JSON.stringify([result.bundle.plan, result.bundle.digest])
  for (const value of [SECRET, FREE_TEXT_ENV.HASH, 'secret-host', 'hidden-in-a-file'])
    assert.ok(!printed.includes(value), value)
  assert.deepEqual(Object.keys(result.bundle.values).sort(), [
    '${env:HASH}',
    '${env:S|json}',
    '${env:S}',
    '${env:URL}',
    '${file:secret.txt}',
  ])
})

/** A reference in every text that the plan copies, and in the path and the hosts of a route. */
const COPIED = `
version: 1
environment: '\${env:WORD}'
apis: { o: { group: '\${env:WORD}', revision: '\${env:WORD}' } }
listeners: [{ address: 127.0.0.1:80, trustedProxies: ['\${env:RANGE}'] }]
upstreams: { a: { targets: ['https://a.example:1'], tls: { servername: '\${env:HOST}' } } }
routes:
  - id: r
    api: o
    match: { path: '/hook/\${env:WORD}/{id}', hosts: ['\${env:HOST}', b.example], when: '\${env:WHEN}', headers: { x: { regex: '\${env:REGEX}' } } }
    rewrite: { path: '/in/\${env:WORD}/{id}', host: '\${env:HOST}' }
    upstream: a
    policies: [{ use: marker, with: { target: { kind: '\${env:KIND}', path: '\${env:WORD}' } }, when: '\${env:WHEN}' }]
  - { id: p, match: { path: '\${env:PATH}/*' }, rewrite: { prefix: '\${env:PATH}' }, upstream: a }
  - { id: x, match: { path: '~^/\${env:WORD}$' }, rewrite: { regex: { pattern: '\${env:REGEX}', replacement: '\${env:WORD}' } }, upstream: a }
  - { id: t, match: { path: /t }, redirect: { path: '\${env:PATH}', host: '\${env:HOST}' } }
log:
  elasticsearch: { nodes: ['\${env:URL}'], dataStream: 'logs-\${env:WORD}-default' }
  syslog: { address: 'udp://\${env:HOST}:514', appName: '\${env:WORD}' }
  geo: { file: '\${env:PATH}/places.mmdb' }
  privacy: { rules: [{ id: a, find: { regex: '\${env:REGEX}' }, do: mask }] }
`
const COPIED_ENV = {
  RANGE: '10.77.0.0/16',
  HOST: 'ZQ7.example',
  WORD: 'zq7word',
  WHEN: 'req.header["zq7"] == "1"',
  REGEX: '^zq7[0-9]$',
  KIND: 'file',
  PATH: '/zq7/path',
  URL: 'http://zq7.example:9200',
}

test('no value of a reference is in the plan that is shown, and every one in the plan that is compiled', () => {
  const result = load(COPIED, COPIED_ENV)
  assert.ok(result.ok, JSON.stringify(result))
  const shown = displayPlan(result.bundle.plan, SAMPLE_CATALOG)
  const printed = JSON.stringify([shown, diffPlans(null, result.bundle.plan, SAMPLE_CATALOG)])
  assert.doesNotMatch(printed, /zq7|10\.77|"kind":"file"/i)
  const match = shown.routes.find(({ id }) => id === 'r')?.match
  assert.deepEqual(match?.path, { text: '/hook/${env:WORD}/{id}', kind: 'template', segments: [] })
  assert.deepEqual(match?.hosts, ['${env:HOST}', 'b.example'])

  const plan = resolvePlan(result.bundle)
  assert.doesNotMatch(JSON.stringify(plan), /\$\{/)
  const route = plan.routes.find(({ id }) => id === 'r')
  assert.deepEqual(
    route?.match.path.segments.map((segment) => (segment.kind === 'literal' ? segment.text : segment.kind)),
    ['hook', 'zq7word', 'param'],
  )
  assert.deepEqual(route?.match.hosts, ['b.example', 'zq7.example'])
  assert.deepEqual(route?.policies[0]?.with, {
    level: 5,
    target: { kind: 'file', path: 'zq7word', mode: 'append' },
  })
  assert.deepEqual(route?.rewrite, {
    prefix: null,
    path: '/in/zq7word/{id}',
    regex: null,
    host: 'ZQ7.example',
  })
})

test('another value of a reference in a path or host is a difference that does not show it', () => {
  const before = load(COPIED, COPIED_ENV)
  const literal = load(COPIED.replaceAll('${env:HOST}', 'a.example'), COPIED_ENV)
  for (const other of [{ WORD: 'zq7other' }, { HOST: 'zq7.other' }, { PATH: '/zq7/other' }]) {
    const after = load(COPIED, { ...COPIED_ENV, ...other })
    assert.ok(before.ok && after.ok && literal.ok)
    const lines = formatDiff(diffBundles(before.bundle, after.bundle, SAMPLE_CATALOG)).join('\n')
    assert.match(lines, /~ route [rp]\n {4}match\.\S+: changed\n/)
    assert.doesNotMatch(lines, /zq7/i)
    const toLiteral = formatDiff(diffBundles(before.bundle, literal.bundle, SAMPLE_CATALOG)).join('\n')
    assert.match(toLiteral, /match\.hosts: \+ a\.example\n {4}match\.hosts: - \$\{env:HOST\}\n/)
    assert.doesNotMatch(toLiteral, /zq7|shown/i)
  }
})

test('ten thousand references in paths and hosts are all resolved', () => {
  const route = (i: number): object => ({
    id: `r${i}`,
    match: {
      path: ['', '${env:WORD}', i].join('/'),
      hosts: ['a.${env:HOST}', 'b.${env:HOST}', 'c.${env:HOST}'],
    },
    respond: {},
  })
  const routes = Array.from({ length: 2500 }, (_, i) => route(i))
  const result = load(JSON.stringify({ version: 1, routes }), COPIED_ENV)
  assert.ok(result.ok)
  assert.doesNotMatch(JSON.stringify(resolvePlan(result.bundle).routes.map(({ match }) => match)), /\$\{/)
})

test('resolving puts the values in, and makes an origin of a target', () => {
  const result = load(FREE_TEXT, FREE_TEXT_ENV)
  assert.ok(result.ok)
  const plan = resolvePlan(result.bundle)
  assert.equal(plan.upstreams[0]?.targets[0]?.url, 'http://secret-host:81')
  assert.equal(plan.admin.tokens[0]?.sha256, FREE_TEXT_ENV.HASH)
  const route = plan.routes.find(({ id }) => id === 'r')
  assert.equal(route?.match.headers[0]?.value, `Key ${SECRET}`)
  assert.equal(route?.match.when, `req.header["k"] == "${SECRET}"`)
  assert.deepEqual(route?.policies[0]?.with, { users: [{ name: 'hidden-in-a-file', password: SECRET }] })
  assert.ok(!JSON.stringify(plan).includes('${'))
})

test('the digest does not depend on the values of references', () => {
  const [one, other] = [load(FREE_TEXT, FREE_TEXT_ENV), load(FREE_TEXT, { ...FREE_TEXT_ENV, S: 'another' })]
  assert.ok(one.ok && other.ok)
  assert.equal(one.bundle.digest, other.bundle.digest)
  assert.notDeepEqual(one.bundle.values, other.bundle.values)
})

test('a value where the plan needs one takes the place of the reference', () => {
  const plan = loadOrThrow('{ version: 1, workers: "${env:N}", drain: { delay: "${env:D}" } }', new Map(), {
    N: '2',
    D: '1s',
  }).plan
  assert.equal(plan.workers, 2)
  assert.equal(plan.drain.delayMs, 1000)
})

const BOXED = `
version: 1
upstreams: { a: { targets: ['http://a.example:1'], timeouts: { total: '\${env:T}' } } }
routes:
  - { id: r, match: { path: /* }, upstream: a, policies: [{ use: secret-box, with: { users: [{ name: a, password: '\${env:S}' }] } }] }
`

test('a PEM in one line, with its line breaks written out, is read as the PEM that it is', () => {
  const passwordOf = (value: string): string | undefined => {
    const result = load(BOXED, { S: value, T: '5s' })
    assert.ok(result.ok)
    return result.bundle.values['${env:S}']
  }
  const pem = '-----BEGIN PRIVATE KEY-----\nMC4CAQAw\nabc=\n-----END PRIVATE KEY-----'
  for (const written of [pem.replaceAll('\n', '\\n'), pem.replaceAll('\n', '\\r\\n'), pem])
    assert.equal(passwordOf(written), pem)
  for (const other of ['a\\nb', '{"key":"-----BEGIN PRIVATE KEY-----\\nMC4C"}', 'x -----BEGIN A-----\\n'])
    assert.equal(passwordOf(other), other)
})

test('blanks around the value of a reference are said to be there', () => {
  for (const [value, remedy] of [
    [' 5s', 'remove the spaces around the value'],
    ['5s\n', 'remove the spaces around the value'],
    ['5 s', 'correct the value'],
  ] as const) {
    const result = load(BOXED, { S: 'a', T: value })
    assert.ok(!result.ok)
    assert.deepEqual(
      result.diagnostics.map((one) => one.remedy),
      [remedy],
    )
  }
})

test('a value that holds what looks like a reference is not resolved again', () => {
  const tricky = 'http://a/${env:S}'
  const result = load('{ version: 1, routes: [{ id: a, respond: { body: "${env:T}" } }] }', { T: tricky })
  assert.ok(result.ok)
  const [route] = resolvePlan(result.bundle).routes
  assert.ok(route?.action.kind === 'respond')
  assert.equal(route.action.body, tricky)
})

test('secrets that are written out are masked in the plan that is shown', () => {
  const text = FREE_TEXT.replaceAll('${env:S}', SECRET).replace('${env:HASH}', FREE_TEXT_ENV.HASH)
  const result = load(text, FREE_TEXT_ENV)
  assert.ok(result.ok)
  const shown = displayPlan(result.bundle.plan, SAMPLE_CATALOG)
  const [policy] = shown.routes.find(({ id }) => id === 'r')?.policies ?? []
  assert.deepEqual(policy?.with, { users: [{ name: '${file:secret.txt}', password: '***' }] })
  assert.equal(shown.admin.tokens[0]?.sha256, '***')
  assert.equal(
    displayPlan(result.bundle.plan, new Map()).routes.find(({ id }) => id === 'r')?.policies[0]?.with,
    '***',
  )
})

test('a secret of references and other text is masked as a whole', () => {
  const plan = loadOrThrow(
    '{ version: 1, routes: [{ id: a, respond: {}, policies: [{ use: secret-box, with: { users: [{ name: n, password: "pre${env:S}" }] } }] }] }',
    SAMPLE_CATALOG,
    { S: SECRET },
  ).plan
  assert.ok(!JSON.stringify(displayPlan(plan, SAMPLE_CATALOG)).includes('pre'))
})

test('a difference says that a secret changed and not what it is', () => {
  const other = FREE_TEXT.replace("password: '${env:S}'", 'password: literal-one')
  const another = FREE_TEXT.replace("password: '${env:S}'", 'password: literal-two')
  const [before, after] = [load(other, FREE_TEXT_ENV), load(another, FREE_TEXT_ENV)]
  assert.ok(before.ok && after.ok)
  for (const catalog of [SAMPLE_CATALOG, new Map()]) {
    const lines = formatDiff(diffPlans(before.bundle.plan, after.bundle.plan, catalog)).join('\n')
    assert.match(lines, /route r/)
    assert.match(lines, /changed/)
    assert.ok(!lines.includes('literal'), lines)
    const added = JSON.stringify(diffPlans(null, after.bundle.plan, catalog))
    assert.ok(!added.includes('literal') && !added.includes(SECRET))
  }
})

/** Every value in it can be replaced by a reference. */
const EVERYTHING = {
  version: 1,
  listeners: [
    {
      address: '127.0.0.1:80',
      engine: 'uws',
      trustedProxies: ['10.0.0.0/8'],
      limits: { bodyBytes: '1mb', headers: 5 },
    },
    { address: '127.0.0.1:81', tls: { certFile: 'cert.pem', keyFile: 'key.pem' } },
  ],
  admin: { address: '127.0.0.1:99', tokens: [{ id: 'a', sha256: 'ab'.repeat(32), role: 'admin' }] },
  workers: 2,
  upstreams: {
    a: {
      targets: ['http://a:1', { url: 'http://b:1', weight: 1, role: 'primary' }],
      balance: 'hash',
      hashOn: 'ip',
    },
  },
  policies: [{ id: 'p', use: 'marker', with: { text: 'x', level: 2 } }],
  routes: [
    {
      id: 'r',
      match: {
        path: '/a/{id}',
        hosts: ['a.org'],
        methods: ['GET'],
        headers: { x: 'y' },
        when: 'req.method == "GET"',
      },
      rewrite: { path: '/b/{id}', host: 'keep' },
      upstream: 'a',
      timeouts: { total: '5s' },
      policies: [
        'p',
        { use: 'secret-box', with: { users: [{ name: 'n', password: 'w' }] }, onError: 'fail' },
      ],
    },
    { id: 's', match: { path: '/s' }, respond: { status: 204, headers: { 'x-a': 'b' } } },
    { id: 't', match: { path: '/t/*' }, redirect: { status: 302, prefix: '/u', host: 'b.org' } },
  ],
  log: { sink: 'file', file: { dir: 'd', maxBytes: '10mb', segmentBytes: '1mb' } },
}

type Leaf = { holder: Record<string, unknown>; key: string }

function leavesOf(value: unknown): Leaf[] {
  if (typeof value !== 'object' || value === null) return []
  const holder = value as Record<string, unknown>
  return Object.keys(holder).flatMap((key) =>
    typeof holder[key] === 'object' ? leavesOf(holder[key]) : [{ holder, key }],
  )
}

test('no diagnostic ever shows the value of a reference, wherever it stands', () => {
  const count = leavesOf(EVERYTHING).length
  const value = fc.constantFrom(
    SECRET,
    `/${SECRET}`,
    `~${SECRET}(`,
    `http://${SECRET}`,
    `127.0.0.1:80${SECRET}`,
    `${SECRET}:80`,
  )
  const locations = fc.uniqueArray(fc.nat(count - 1), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(locations, value, (positions, secret) => {
      const document = structuredClone(EVERYTHING)
      for (const [i, { holder, key }] of leavesOf(document).entries())
        if (positions.includes(i)) holder[key] = '${env:S}'
      const result = load(JSON.stringify(document), { S: secret })
      const shown = JSON.stringify(result.ok ? [result.warnings] : result.diagnostics).toLowerCase()
      assert.ok(!shown.includes(SECRET.toLowerCase()), shown)
    }),
    { numRuns: 300 },
  )
})
