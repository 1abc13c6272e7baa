import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { failedPaths, gwTest, project, report } from '../cases/testing.js'
import { gwInProcess } from '../testing/in-process.js'
import { spawnGw, until } from '../testing.js'

const OK = { request: 'GET /limited', expect: { response: 200 } }
const BAD = { request: 'GET /limited', expect: { response: 201 } }

test('the report shows files, cases, differences and counts, and the exit code says the result', async (t) => {
  const dir = project(t, {
    'tests/a.test.yaml': [
      { name: 'good', ...OK },
      { name: 'off', skip: true, ...BAD },
    ],
    'tests/deep/b.test.yaml': [{ name: 'bad \u001b[2J', steps: [OK, BAD] }],
    'tests/notes.yaml': 'not a case file',
  })
  const { code, stdout } = await gwTest(dir)
  assert.equal(code, 7)
  const lines = stdout.split('\n')
  assert.equal(lines[0], 'tests/a.test.yaml')
  assert.match(stdout, /\n {2}✓ good( \d+ ms)?\n {2}- off \(skip\)\n\ntests\/deep\/b\.test\.yaml\n/)
  assert.match(stdout, / {2}✗ bad \\u\{1b\}\[2J.* tests\/deep\/b\.test\.yaml:1\n {6}step 2: GET \/limited\n/)
  assert.match(stdout, / {8}response\.status\n {10}expected {2}201\n {10}actual {4}200\n/)
  assert.match(
    stdout,
    /\n1 passed, 1 failed, 1 skipped of 3 cases in \d+\.\d s\n8 of 9 routes have no case: asked, bills, /,
  )
  assert.match(stdout, /\n5 of 6 policies never ran: /)
  assert.equal((await gwTest(dir, 'tests/a.test.yaml')).code, 0)
  assert.equal((await gwTest(dir, 'tests/deep')).code, 7)
})

test('cases are selected by name, only and bail, and coverage can be required', async (t) => {
  const names = async (dir: string, ...args: string[]) => {
    const { cases, code } = await report(dir, ...args)
    return [...cases.map(({ name, status }) => `${name} ${status}`), code]
  }
  const dir = project(t, {
    'tests/a.test.yaml': [
      { name: 'One', ...BAD },
      { name: 'two', ...OK },
      { name: 'three', ...BAD },
    ],
  })
  assert.deepEqual(await names(dir, '--filter', 'one'), ['One failed', 7])
  assert.deepEqual(await names(dir, '--bail'), ['One failed', 'two skipped', 'three skipped', 7])
  const none = await gwTest(dir, '--filter', 'four')
  assert.deepEqual([none.code, none.stderr], [64, "no case has 'four' in its name\n"])
  const only = project(t, {
    'tests/a.test.yaml': [{ name: 'one', ...BAD }],
    'tests/b.test.yaml': [{ name: 'two', only: true, ...OK }],
  })
  assert.deepEqual(await names(only), ['one skipped', 'two passed', 0])
  assert.deepEqual((await report(only)).coverage?.routes.missing.length, 8)
  assert.equal((await gwTest(only, '--coverage-min', '11%')).code, 0)
  const below = await gwTest(only, '--coverage-min', '12%')
  assert.deepEqual(
    [below.code, below.stderr],
    [7, 'only 11% of the routes have a case; --coverage-min is 12%\n'],
  )
})

test('reports are written as TAP and JUnit, with escapes', async (t) => {
  const dir = project(t, {
    'tests/a.test.yaml': [
      { name: 'good # 1', ...OK },
      { name: 'bad <&"> \u0007', request: 'GET /json', expect: { response: { body: ']]><x>' } } },
      { name: 'off', skip: true, ...OK },
    ],
  })
  const tap = await gwTest(dir, '--reporter', 'tap')
  assert.match(tap.stdout, /^TAP version 14\n1\.\.3\nok 1 - tests\/a\.test\.yaml: good \\# 1\nnot ok 2 - /)
  assert.match(tap.stdout, /\n {2}---\n {2}message: \|\n {4}GET \/json\n {6}response\.body\n/)
  assert.match(tap.stdout, /\nok 3 - tests\/a\.test\.yaml: off # SKIP skip\n$/)
  assert.match(tap.stderr, /routes have no case/)
  const junit = await gwTest(dir, '--reporter', 'junit', '--output-file', 'report.xml')
  assert.match(junit.stdout, /✓ good/)
  const xml = readFileSync(join(dir, 'report.xml'), 'utf8')
  assert.match(xml, /<testsuite name="gw test" tests="3" failures="1" skipped="1" time="/)
  assert.match(
    xml,
    /<testcase name="bad &lt;&amp;&quot;&gt; \\u\{7\}" classname="tests\/a\.test\.yaml" file="tests\/a\.test\.yaml" line="1"/,
  )
  assert.match(xml, /<failure message="response\.body">GET \/json\n.*\n {4}expected {2}\]\]&gt;&lt;x&gt;\n/s)
  assert.match(xml, /<skipped message="skip"\/>/)
})

test('snapshots are written once, compared, updated and never outside of their folder', async (t) => {
  const snapshot = (body: string, name = '../../evil') => [
    {
      name,
      request: 'GET /orders/1',
      upstreams: { orders: { headers: { 'x-a': '1' }, body } },
      expect: { snapshot: true },
    },
  ]
  const dir = project(t, { 'tests/a.test.yaml': snapshot('one') })
  const write = (cases: object[]) => writeFileSync(join(dir, 'tests/a.test.yaml'), JSON.stringify({ cases }))
  const file = join(dir, 'tests/__snapshots__/a.test.yaml.snap')
  const inCi = await gwInProcess(['test'], { cwd: dir, env: { CI: 'true' } })
  assert.match(inCi.stdout, /write it with --update/)
  assert.equal(existsSync(file), false)
  const first = await gwTest(dir)
  assert.deepEqual([first.code, first.stderr], [0, '1 snapshot written\n'])
  assert.match(
    readFileSync(file, 'utf8'),
    /"?\.\.\/\.\.\/evil > GET \/orders\/1"?:\n {2}status: 200\n {2}headers:\n {4}x-a: "1"\n {2}body: one\n/,
  )
  assert.equal(existsSync(join(dir, '../evil')), false)
  assert.deepEqual((await gwTest(dir)).stderr, '')
  write(snapshot('two'))
  const changed = await report(dir)
  assert.deepEqual(failedPaths(changed), { '../../evil': 'snapshot.body=two' })
  assert.equal((await gwTest(dir, '--update')).code, 0)
  assert.equal((await gwTest(dir)).code, 0)
  write(snapshot('two', 'renamed'))
  await gwTest(dir, '--update')
  assert.doesNotMatch(readFileSync(file, 'utf8'), /evil/)
  // Error answers have the id of their request.
  write([{ name: 'error', request: 'GET /nowhere', expect: { snapshot: true } }])
  for (const expected of ['1 snapshot written\n', '']) assert.equal((await gwTest(dir)).stderr, expected)
  writeFileSync(file, '&a [*a]')
  assert.deepEqual((await gwTest(dir)).code, 3)
})

test('invalid case files are refused with the position of each error', async (t) => {
  const bomb = `cases:\n  - &a [x, x]\n${Array.from({ length: 30 }, (_, i) => `  - &b${i} [${i === 0 ? '*a, *a' : `*b${i - 1}, *b${i - 1}`}]`).join('\n')}\n`
  const rows: [name: string, text: string, message: RegExp][] = [
    ['bomb.test.yaml', bomb, /^bomb\.test\.yaml:\d+:\d+: /],
    ['deep.test.yaml', '['.repeat(5000), /deep\.test\.yaml:1:1: .*nested deeper/],
    ['empty.test.yaml', '', /empty\.test\.yaml:1:1: /],
    ['twice.test.yaml', 'cases: [{ name: a, name: b, request: GET / }]', /twice\.test\.yaml:1:20: /],
    [
      'key.test.yaml',
      'cases:\n  - name: a\n    request: GET /\n    expects: {}\n',
      /key\.test\.yaml:4:5: unknown key 'expects' \(did you mean 'expect'\?\)/,
    ],
    [
      'request.test.yaml',
      'cases: [{ name: a, request: /orders }]',
      /request\.test\.yaml:1:29: .*a request such as GET \/orders\/7/,
    ],
    [
      'none.test.yaml',
      'cases: [{ name: a }]',
      /none\.test\.yaml:1:\d+: cases\[0\] needs 'request' or 'steps'/,
    ],
    [
      'both.test.yaml',
      'cases: [{ name: a, request: GET /, steps: [{ request: GET / }] }]',
      /only one is allowed/,
    ],
    [
      'lost.test.yaml',
      'cases: [{ name: a, steps: [{ request: GET / }], expect: {} }]',
      /lost\.test\.yaml:1:49: 'expect' has no request/,
    ],
    [
      'same.test.yaml',
      'cases: [{ name: a, request: GET / }, { name: a, request: GET / }]',
      /same\.test\.yaml:1:46: two cases have the name 'a'/,
    ],
    [
      'time.test.yaml',
      'cases: [{ name: a, at: 2026-13-01T00:00:00Z, request: GET / }]',
      /time\.test\.yaml:1:24: '2026-13-01T00:00:00Z' is not a valid time/,
    ],
    [
      'ip.test.yaml',
      'cases: [{ name: a, request: { path: /, clientIp: 300.1.1.1 } }]',
      /ip\.test\.yaml:1:50: '300\.1\.1\.1' is not an IP address/,
    ],
    [
      'verdict.test.yaml',
      'cases: [{ name: a, request: GET /, expect: { policies: { a: ok } } }]',
      /'a' must be .*passed.*, not 'ok'/,
    ],
    [
      'throws.test.ts',
      'throw new Error("boom \\u001b[2J")',
      /throws\.test\.ts:1:1: the cases cannot be loaded: boom \\u\{1b\}\[2J/,
    ],
    ['syntax.test.ts', 'export default {', /syntax\.test\.ts:1:1: the cases cannot be loaded: /],
    ['nothing.test.mjs', 'export const a = 1', /nothing\.test\.mjs:1:1: .*no default export/],
    ['loop.test.mjs', 'const a = { cases: [] }; a.cases.push(a); export default a', /loop\.test\.mjs:1:1: /],
    [
      'typo.test.mjs',
      'export default [{ name: "a", request: "GET /", expect: { rout: "a" } }]',
      /typo\.test\.mjs:1:1: cases\[0\]\.expect\.rout: unknown key 'rout'/,
    ],
  ]
  const dir = project(t, Object.fromEntries(rows.map(([name, text]) => [name, text])))
  for (const [name, , message] of rows) {
    const { code, stderr, stdout } = await gwTest(dir, name)
    assert.deepEqual([name, code, stdout], [name, 3, ''], stderr)
    assert.match(stderr, message)
  }
  const broken = project(t, { 'tests/a.test.yaml': [{ name: 'a', ...OK }] }, 'version: 1\nroutes: 1\n')
  const result = await gwTest(broken)
  assert.deepEqual([result.code, result.stdout], [3, ''])
  assert.match(result.stderr, /gateway\.yaml:2:9: /)
})

test('missing files are named', async (t) => {
  const dir = project(t, {})
  for (const [args, code, message] of [
    [[], 64, /there is no folder tests; name case files/],
    [['nope.test.yaml'], 64, /cannot read nope\.test\.yaml: there is no such file/],
    [['.'], 1, /no case files in \.; their names end in/],
    [['gateway.yaml', '-c', 'other.yaml'], 3, /gateway\.yaml:1:1: /],
  ] as const) {
    const result = await gwTest(dir, ...args)
    assert.equal(result.code, code, result.stderr)
    assert.match(result.stderr, message)
  }
})

test('cases can be TypeScript with imports, without an installed package', async (t) => {
  const dir = project(t, {
    'tests/shared.ts': 'export enum Status { Fine = 200 }\nexport interface Unused { a: string }\n',
    'tests/a.test.ts': `import { type CaseFile, defineCases } from '@sluice/cli/cases'
import { Status } from './shared.ts'
const paths: readonly string[] = ['/limited', '/json']
const file: CaseFile = { defaults: { at: '2030-01-01T00:00:00Z' }, cases: paths.map((path) => ({
  name: path, request: { path } as const, expect: { response: { status: Status.Fine, headers: { date: '/.*2030.*/' } } },
})) }
export default defineCases(file)
`,
    'tests/b.test.mjs': `export default [{ name: 'plain', request: 'GET /limited', expect: { response: 200 } }]`,
  })
  const result = await report(dir)
  assert.deepEqual(failedPaths(result), { '/limited': '', '/json': '', plain: '' })
})

test('defaults apply to cases that do not set them', async (t) => {
  const cases = [
    {
      name: 'all',
      request: 'GET /asked',
      expect: {
        response: { status: 203, headers: { date: '/.*2030.*/' } },
        upstream: { headers: { 'x-a': '1' } },
      },
    },
    {
      name: 'own',
      at: '2031-01-01T00:00:00Z',
      upstreams: { orders: { status: 204 } },
      request: { path: '/asked', headers: { 'X-A': '2' } },
      expect: {
        response: { status: 204, headers: { date: '/.*2031.*/' } },
        upstream: { headers: { 'x-a': '2' } },
      },
    },
  ]
  const defaults = {
    at: '2030-01-01T00:00:00Z',
    headers: { 'X-a': '1' },
    upstreams: { orders: { status: 203 } },
    calls: { 'https://auth.invalid/check': {} },
  }
  const dir = project(t, { 'tests/a.test.yaml': JSON.stringify({ defaults, cases }) })
  assert.deepEqual(failedPaths(await report(dir)), { all: '', own: '' })
})

test('--url sends the requests to a running gateway and checks its responses', async (t) => {
  const seen: string[] = []
  const server = http.createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.host} ${request.headers['x-a']}`)
    response.setHeader('x-gw-error', 'GW_X').end('{"a":1}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const request = { path: '/a?b=1', method: 'POST', headers: { 'x-a': '1' } }
  const dir = project(t, {
    'tests/a.test.yaml': [
      { name: 'good', request, expect: { response: { status: 200, code: 'GW_X', json: { a: 1 } } } },
      { name: 'bad', request: 'GET http://api.example.com/b', expect: { response: 201 } },
      { name: 'partly', request: 'GET /c', expect: { route: 'x', record: {}, response: 200 } },
      { name: 'clock', at: '2026-01-01T00:00:00Z', request: 'GET /d' },
      { name: 'servers', steps: [{ request: 'GET /e', calls: { a: {} } }] },
      { name: 'client', request: { path: '/f', clientIp: '203.0.113.7' } },
    ],
  })
  rmSync(join(dir, 'gateway.yaml'))
  const { cases, code } = await report(dir, '--url', url)
  assert.equal(code, 7)
  assert.deepEqual(
    cases.map(({ status, skipped }) => [status, skipped]),
    [
      ['passed', ''],
      ['failed', ''],
      ['passed', 'not checked with --url: route, record'],
      ['skipped', 'needs the fake clock, which is not available with --url'],
      ['skipped', 'needs fake servers, which is not available with --url'],
      ['skipped', 'needs an assumed client, which is not available with --url'],
    ],
  )
  assert.deepEqual(seen, [
    `POST /a?b=1 127.0.0.1:${port} 1`,
    'GET /b api.example.com undefined',
    `GET /c 127.0.0.1:${port} undefined`,
  ])
  assert.equal((await gwTest(dir, '--url', 'localhost')).code, 64)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  assert.match((await gwTest(dir, '--url', url)).stdout, /ECONNREFUSED/)
})

test('--watch runs again after a change, and ends at a signal', async (t) => {
  const dir = project(t, { 'tests/a.test.yaml': [{ name: 'one', ...OK }] })
  const run = spawnGw(t, ['test', join(dir, 'tests'), '-c', join(dir, 'gateway.yaml'), '--watch'])
  await until(() => run.stderr().includes('waiting for changes'), run.stderr)
  assert.match(run.stdout(), /1 passed of 1 case/)
  writeFileSync(join(dir, 'tests/a.test.yaml'), JSON.stringify({ cases: [{ name: 'one', ...BAD }] }))
  await until(() => run.stdout().includes('1 failed of 1 case'), run.stderr)
  await until(() => run.stderr().split('waiting for changes').length === 3, run.stderr)
  run.process.kill('SIGINT')
  await until(() => run.process.exitCode !== null, run.stderr)
  assert.equal(run.process.exitCode, 0)
})

test('the schema of case files describes every key', async () => {
  const { stdout } = await gwInProcess(['schema', '--tests'])
  const schema = JSON.parse(stdout) as { readonly properties: object }
  assert.deepEqual(Object.keys(schema.properties), ['defaults', 'cases'])
  assert.doesNotMatch(stdout, /"(bounds|choice|expects)":/)
})
