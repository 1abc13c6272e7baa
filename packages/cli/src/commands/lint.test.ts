import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { LINT_RULES, type LintFinding, type LintOptions, lintDocument } from '@sluice/config/authoring'
import { catalog } from '@sluice/policies'
import { Ajv } from 'ajv'
import { gwInProcess } from '../testing/in-process.js'
import { scratch } from '../testing.js'

const ENV = { SECRET: 'a-secret-of-many-characters-0123456789', STICKY_KEY: '0123456789abcdef' }
const DAY_MS = 86_400_000

function lintText(text: string, options: Partial<LintOptions> & { readonly name?: string } = {}) {
  const { name = 'gateway.yaml', ...more } = options
  return lintDocument({ name, text: `version: 1\n${text}` }, { catalog, env: ENV, ...more })
}

function rulesOf(findings: readonly LintFinding[]): string[] {
  return [...new Set(findings.map(({ rule }) => rule))]
}

/** Creates a folder with certificates that expire in 10 and in 400 days. */
function folderOf(t: TestContext): string {
  const dir = scratch(t)
  const subject = ['-subj', '/CN=localhost', '-key', join(dir, 'key.pem')]
  execFileSync('openssl', [
    'ecparam',
    '-name',
    'prime256v1',
    '-genkey',
    '-noout',
    '-out',
    join(dir, 'key.pem'),
  ])
  for (const [file, days] of [
    ['expired.pem', '10'],
    ['valid.pem', '400'],
  ] as const)
    execFileSync('openssl', ['req', '-x509', '-days', days, ...subject, '-out', join(dir, file)])
  return dir
}

test('the bad example of every rule has a finding, the good one has none', async (t) => {
  const [dir, elsewhere] = [folderOf(t), scratch(t)]
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => server.close())
  mkdirSync(join(elsewhere, 'data/traffic'), { recursive: true })
  const before = process.cwd()
  process.chdir(elsewhere)
  t.after(() => process.chdir(before))
  for (const { id, bad, good, checkOnline } of LINT_RULES) {
    if (bad === '') continue
    const options = { name: join(dir, 'gateway.yaml'), isOnline: checkOnline !== undefined }
    const port = String((server.address() as AddressInfo).port)
    assert.deepEqual(rulesOf(await lintText(bad, options)), [id], `the bad example of ${id}`)
    assert.deepEqual(
      await lintText(good.replace(':9000', `:${port}`), options),
      [],
      `the good example of ${id}`,
    )
  }
})

const UPSTREAM = "upstreams: { o: { targets: ['http://10.0.0.1'] } }\n"
const JWT = '{ use: jwt, with: { audiences: [o], jwks: { url: https://id.example.com/k } } }'

/** Documents by the rules that they break. */
const CASES: readonly (readonly [string, string, string])[] = [
  [
    'a protected method beside an open one',
    'unprotected-route',
    `${UPSTREAM}routes:\n  - { id: a, match: { path: /a, methods: [POST] }, upstream: o, policies: [${JWT}] }\n  - { id: b, match: { path: /a, methods: [GET] }, upstream: o }`,
  ],
  [
    'other hosts are no siblings',
    '',
    `${UPSTREAM}routes:\n  - { id: a, match: { hosts: [a.test], path: /a }, upstream: o, policies: [${JWT}] }\n  - { id: b, match: { hosts: [b.test], path: /a }, upstream: o }`,
  ],
  [
    'other segments are no siblings',
    '',
    `${UPSTREAM}routes:\n  - { id: a, match: { path: /a/* }, upstream: o, policies: [${JWT}] }\n  - { id: b, match: { path: /b/* }, upstream: o }`,
  ],
  [
    'preflights need no authentication',
    '',
    `${UPSTREAM}routes:\n  - { id: a, match: { path: /a/*, methods: [GET] }, upstream: o, policies: [${JWT}] }\n  - { id: b, match: { path: /a/*, methods: [OPTIONS] }, upstream: o }`,
  ],
  [
    'a policy of a group protects',
    '',
    `${UPSTREAM}policyGroups: { users: [${JWT}] }\nroutes:\n  - { id: a, match: { path: /a/* }, upstream: o, policies: [users] }\n  - { id: b, match: { path: /a/b }, upstream: o, policies: [users] }`,
  ],
  [
    'an HMAC signature protects, signing does not',
    'unprotected-route',
    `${UPSTREAM}routes:\n  - { id: a, match: { path: /a/b }, upstream: o, policies: [{ use: hmac-signature, with: { preset: github, secrets: ['\${env:SECRET}'] } }] }\n  - { id: b, match: { path: /a/c }, upstream: o }`,
  ],
  [
    'a limit by consumer stays after the login',
    '',
    `${UPSTREAM}routes: [{ id: a, match: { path: /a }, upstream: o, policies: [{ use: forward-auth, with: { url: https://a.example.com, consumer: { id: x-user } } }, { use: rate-limit, with: { limit: 1/s, key: consumer.id } }] }]`,
  ],
  [
    'a constant condition of a route',
    'never-runs',
    'routes: [{ id: a, match: { path: /a, when: 1 == 2 }, respond: {} }]',
  ],
  [
    'a constant condition of a policy',
    'never-runs',
    "routes: [{ id: a, match: { path: /a }, respond: {}, policies: [{ use: ip-filter, when: 'false', with: { allow: [10.0.0.0/8] } }] }]",
  ],
  [
    'a mock with a condition',
    '',
    'routes: [{ id: a, match: { path: /a }, respond: {}, policies: [{ use: mock, when: \'req.method == "GET"\', with: { body: a } }, { use: ip-filter, with: { allow: [10.0.0.0/8] } }] }]',
  ],
  [
    'a maintenance that lets some callers through',
    '',
    'routes: [{ id: a, match: { path: /a }, respond: {}, policies: [{ use: maintenance, with: { allow: [10.0.0.0/8] } }, { use: ip-filter, with: { allow: [10.0.0.0/8] } }] }]',
  ],
  [
    'a token in a header',
    'secret-in-clear',
    'routes: [{ id: a, match: { path: /a }, respond: { headers: { x-verify: 4f9a8b7c6d5e4f3a2b1c } } }]',
  ],
  [
    'a key in a predicate',
    'secret-in-clear',
    'routes: [{ id: a, match: { path: /a, headers: { x-api-key: my-own-key } }, respond: {} }]\nlisteners: [{ address: "127.0.0.1:8080" }]',
  ],
  [
    'a reference in a header',
    '',
    "routes: [{ id: a, match: { path: /a }, respond: { headers: { authorization: 'Bearer ${env:SECRET}' } } }]",
  ],
  [
    'a target without TLS in a private network',
    '',
    "upstreams: { o: { targets: ['http://192.168.1.1', 'http://[fd00::1]', 'http://orders', 'http://orders.internal', 'k8s://orders.default:80'] } }\nroutes: [{ id: a, match: { path: /a }, upstream: o }]",
  ],
  [
    'a public address without TLS',
    'plain-http-target',
    "upstreams: { o: { targets: ['http://8.8.8.8'] } }\nroutes: [{ id: a, match: { path: /a }, upstream: o }]",
  ],
  [
    'a route that streams',
    '',
    `${UPSTREAM}routes: [{ id: a, match: { path: /a }, upstream: o, timeouts: { total: 0s } }]`,
  ],
  ['slow clients', 'no-limit', "listeners: [{ address: '127.0.0.1:8080', limits: { minBodyRate: 0b } }]"],
  [
    'a wide CORS pattern',
    'open-cors',
    "routes: [{ id: a, match: { path: /a }, respond: {}, policies: [{ use: cors, with: { origins: ['https://*.com'], credentials: true } }] }]",
  ],
  [
    'a log target without verification',
    'unverified-tls',
    'log: { sink: elasticsearch, elasticsearch: { nodes: [https://127.0.0.1:9200], tls: { insecure: true } } }',
  ],
]

for (const [what, rule, text] of CASES) {
  test(`${what}: ${rule || 'no finding'}`, async () => {
    const findings = await lintText(text)
    assert.deepEqual(rulesOf(findings), rule === '' ? [] : [rule], JSON.stringify(findings, null, 1))
  })
}

test('a certificate is reported once, by lint 30 days before its end and by validation later', async (t) => {
  const name = join(folderOf(t), 'gateway.yaml')
  const text =
    "listeners: [{ address: '127.0.0.1:8443', engine: node, tls: { certFile: valid.pem, keyFile: key.pem } }]"
  const startMs = Date.now()
  t.mock.timers.enable({ apis: ['Date'] })
  for (const [day, expected] of [
    [360, []],
    [375, ['expires in 24 days']],
    [390, ['expires in 9 days']],
    [410, ['expired on']],
  ] as const) {
    t.mock.timers.setTime(startMs + day * DAY_MS)
    const findings = await lintText(text, { name })
    assert.deepEqual(
      findings.map(({ rule, message }) => [rule, /expire\w*(?: on| in \d+ days)/.exec(message)?.[0]]),
      expected.map((state) => ['certificate-expiry', state]),
      `day ${day}`,
    )
  }
})

const FLAWED = `version: 1
upstreams:
  orders: { targets: [http://10.0.0.1], timeouts: { total: 0s } }
  spare: { targets: [http://10.0.0.2] }
routes: [{ id: orders, match: { path: /orders/* }, upstream: orders }]
`

function written(t: TestContext, text: string): string {
  const file = join(scratch(t), 'gateway.yaml')
  writeFileSync(file, text)
  return file
}

test('findings have positions and remedies, and exit with 2', async (t) => {
  const file = written(t, FLAWED)
  const { code, stdout, stderr } = await gwInProcess(['lint', file])
  assert.equal(code, 2)
  assert.deepEqual(stdout.trim().split('\n'), [
    `${file}:3:60: warning no-limit: requests have no total timeout (set for example 60s, and use 0s only on routes that stream)`,
    `${file}:4:3: warning unused: no route uses the upstream 'spare' (use it or remove it)`,
  ])
  assert.equal(stderr, '1 document checked: 2 warnings\n')
})

test('a threshold, disabled rules and invalid documents decide the exit code', async (t) => {
  const [file, broken] = [written(t, FLAWED), written(t, 'version: 2\n')]
  const exit = async (...args: string[]) => (await gwInProcess(['lint', ...args])).code
  assert.equal(await exit(file, '--fail-on', 'error'), 0)
  assert.equal(await exit(file, '--disable', 'unused', '--disable', 'no-limit'), 0)
  assert.equal(await exit(file, '--disable', 'unused'), 2)
  assert.equal(await exit(file, '--disable', 'unusd'), 64)
  assert.equal(await exit(), 64)
  assert.equal(await exit(broken), 3)
  assert.equal(await exit(file, broken), 3)
})

test('a comment disables rules for the next line', async (t) => {
  const text = FLAWED.replace('  spare', '  # gw-lint-disable-next-line unused, no-limit\n  spare')
  const { stdout } = await gwInProcess(['lint', '-c', written(t, text)])
  assert.match(stdout, /^\S+:3:60: warning no-limit: .*\n$/)
})

/** Documents that disable `unused` or `no-limit` with `x-lint`, and the rules that still report. */
const SWITCHED_OFF: readonly (readonly [string, string, readonly string[]])[] = [
  ['the document', `x-lint: { disable: [unused, no-limit] }\n${FLAWED}`, []],
  ['the document, as one name', `x-lint: { disable: unused }\n${FLAWED}`, ['no-limit']],
  [
    'the upstream',
    FLAWED.replace(
      '{ targets: [http://10.0.0.2]',
      '{ x-lint: { disable: [unused] }, targets: [http://10.0.0.2]',
    ),
    ['no-limit'],
  ],
  [
    'another upstream',
    FLAWED.replace(
      '{ targets: [http://10.0.0.1]',
      '{ x-lint: { disable: [unused] }, targets: [http://10.0.0.1]',
    ),
    ['no-limit', 'unused'],
  ],
  ['an unknown rule', `x-lint: { disable: [unusd] }\n${FLAWED}`, ['invalid', 'no-limit', 'unused']],
]

for (const [where, text, rules] of SWITCHED_OFF) {
  test(`x-lint in ${where} disables rules`, async (t) => {
    const { stdout } = await gwInProcess(['lint', written(t, text), '-o', 'json'])
    assert.deepEqual(rulesOf((JSON.parse(stdout) as { findings: LintFinding[] }).findings), rules)
  })
}

test('x-lint disables rules in a route, an inline policy, a shared policy and a group', async () => {
  const document = ({ route = '', inline = '', shared = '', member = '' }) => `${UPSTREAM}policies:
  - { id: never, use: ip-filter, when: 'false', with: { allow: [10.0.0.0/8] }${shared} }
policyGroups:
  late: [{ use: mock, with: { body: a } }, { use: ip-filter, with: { allow: [10.0.0.0/8] }${member} }]
routes:
  - { id: a, match: { path: /a/* }, upstream: o, policies: [${JWT}, never] }
  - { id: b, match: { path: /a/b }, upstream: o, policies: [{ use: ip-filter, when: 'false', with: { allow: [10.0.0.0/8] }${inline} }]${route} }
  - { id: c, match: { path: /c }, respond: {}, policies: [late] }
`
  const count = async (parts: object) =>
    (await lintText(document(parts))).filter(({ rule }) => rule !== 'invalid').length
  const off = (rule: string) => `, x-lint: { disable: [${rule}] }`
  assert.equal(await count({}), 4)
  assert.equal(await count({ route: off('unprotected-route') }), 3)
  assert.equal(await count({ route: off('never-runs') }), 3)
  assert.equal(await count({ inline: off('never-runs') }), 3)
  assert.equal(await count({ shared: off('never-runs') }), 3)
  assert.equal(await count({ member: off('never-runs') }), 3)
})

test('rules are listed and explained', async () => {
  const { stdout: list } = await gwInProcess(['lint', '--rules'])
  for (const { id } of LINT_RULES) {
    assert.ok(list.includes(id))
    const { stdout, code } = await gwInProcess(['lint', '--explain', id])
    assert.ok(stdout.startsWith(`${id} (`) && code === 0)
  }
  const { stderr, code } = await gwInProcess(['lint', '--explain', 'unsed'])
  assert.deepEqual([stderr, code], ["there is no lint rule 'unsed'; did you mean 'unused'?\n", 64])
})

test('JSON has the documents and their findings', async (t) => {
  const file = written(t, FLAWED)
  const { stdout } = await gwInProcess(['lint', file, '-o', 'json'])
  const { documents, findings } = JSON.parse(stdout) as { documents: string[]; findings: LintFinding[] }
  assert.deepEqual(documents, [file])
  assert.deepEqual(
    findings.map(({ rule, path }) => [rule, path]),
    [
      ['no-limit', 'upstreams.orders.timeouts.total'],
      ['unused', 'upstreams.spare'],
    ],
  )
})

test('SARIF fits its schema and has positions below the working directory', async (t) => {
  const schema = readFileSync(
    new URL('../../src/testing/golden/sarif-2.1.0.schema.json', import.meta.url),
    'utf8',
  )
  // The schema is written in draft 4. Its keywords mean the same in later drafts.
  const { $schema: _draft, id: _id, ...rest } = JSON.parse(schema) as Record<string, unknown>
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(rest)
  const cwd = scratch(t)
  writeFileSync(join(cwd, 'my gateway.yaml'), FLAWED)
  writeFileSync(join(cwd, 'broken.yaml'), 'version: 2\n')
  const { stdout, code } = await gwInProcess(['lint', 'my gateway.yaml', 'broken.yaml', '-o', 'sarif'], {
    cwd,
  })
  const log = JSON.parse(stdout) as {
    runs: [
      {
        results: { ruleId: string; ruleIndex: number; locations: object[] }[]
        tool: { driver: { rules: { id: string }[] } }
      },
    ]
  }
  assert.ok(validate(log), JSON.stringify(validate.errors))
  const [{ results, tool }] = log.runs
  for (const { ruleId, ruleIndex } of results) assert.equal(tool.driver.rules[ruleIndex]?.id, ruleId)
  assert.deepEqual([results.map(({ ruleId }) => ruleId), code], [['no-limit', 'unused', 'invalid'], 3])
  const region = { startLine: 3, startColumn: 60 }
  assert.deepEqual(results[0]?.locations, [
    { physicalLocation: { artifactLocation: { uri: 'my%20gateway.yaml' }, region } },
  ])
})

test('the examples have no findings', async () => {
  const root = join(import.meta.dirname, '../../../../examples')
  for (const folder of readdirSync(root)) {
    const file = join(root, folder, 'gateway.yaml')
    // A script makes the certificates of this one.
    if (folder === 'plugins' || folder === 'protocols') continue
    assert.deepEqual(
      await lintDocument({ name: file, text: readFileSync(file, 'utf8') }, { catalog, env: {} }),
      [],
      folder,
    )
  }
})

const GUIDE = new URL('../../../../docs/guides/lint.md', import.meta.url)
const BEGIN = '<!-- rules: written by lint.test.js with UPDATE_GOLDEN=1 -->\n'
const END = '<!-- end of rules -->'

test('the guide lists all rules', () => {
  const page = readFileSync(GUIDE, 'utf8')
  const [begin, end] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)]
  assert.ok(begin >= BEGIN.length && end >= begin)
  const rows = LINT_RULES.map(({ id, severity, title }) => `| \`${id}\` | ${severity} | ${title} |\n`)
  const table = `| rule | severity | finds |\n| --- | --- | --- |\n${rows.join('')}`
  if (process.env['UPDATE_GOLDEN'] === '1')
    writeFileSync(GUIDE, page.slice(0, begin) + table + page.slice(end))
  else assert.equal(page.slice(begin, end), table)
})
