import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { installPackage, policyCode } from '@sluice/config/testing'
import { CONTRACT_VERSION } from '@sluice/core'
import { TOOLS } from '../commands/plugin-new.js'
import { loadFile } from '../input/document.js'
import { catalog } from '../input/policy-catalog.js'
import { gwInProcess } from '../testing/in-process.js'
import { gw, type Outcome, origin, scratch, spawnGw, startArgs, until } from '../testing.js'
import { mistakesOf } from './compile-trial.js'

const EXAMPLES = fileURLToPath(new URL('../../../../examples/plugins/', import.meta.url))

function npm(cwd: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8' })
  assert.equal(status, 0, stdout + stderr)
  return stdout
}

test('gw plugin new creates a package whose test passes without a network', async (t) => {
  const dir = scratch(t)
  const made = await gw(['plugin', 'new', '@acme/sluice-plugin-labels'], { cwd: dir })
  assert.equal(made.code, 0, made.stderr)
  const folder = join(dir, 'sluice-plugin-labels')
  // On a busy machine, a policy costs several times as much.
  const manifest = join(folder, 'package.json')
  const text = readFileSync(manifest, 'utf8')
  writeFileSync(manifest, text.replace('"budgetMicros": 20', '"budgetMicros": 10000'))
  const said = npm(folder, 'test')
  assert.match(said, /ok +contract of labels/)
  assert.match(said, /cost of labels \(example 1\): .* µs of CPU .*budget 10000 µs/)
  const again = await gwInProcess(['plugin', 'new', '@acme/sluice-plugin-labels'], { cwd: dir })
  assert.match(again.stderr, /already exists/)
  assert.match(
    (await gwInProcess(['plugin', 'new', '../up'], { cwd: dir })).stderr,
    /not a valid package name/,
  )
})

test('new plugins use the compiler that the repository tests', () => {
  const manifest = readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')
  const { devDependencies } = JSON.parse(manifest) as { devDependencies: Record<string, string> }
  for (const [name, used] of Object.entries(TOOLS)) assert.equal(used, devDependencies[name], name)
})

test('docs/guides/plugins.md names the version of the contract', () => {
  const text = readFileSync(new URL('../../../../docs/guides/plugins.md', import.meta.url), 'utf8')
  assert.ok(text.includes(`This gateway has ${CONTRACT_VERSION}:`))
})

/** Runs `gw plugin test` on a package whose policy does what the code says. */
async function tested(t: TestContext, compile: string, use = '{ say: hello }', facts = {}) {
  const folder = installPackage(scratch(t), { name: 'tried', code: described(compile), facts })
  writeFileSync(join(folder, 'example.yaml'), `- { use: tried, with: ${use} }\n`)
  return gwInProcess(['plugin', 'test', folder])
}

function described(compile: string): string {
  return policyCode('tried', compile).replace(/type: '(object|string)'/g, "type: '$1', description: 'Text.'")
}

const hook = (code: string): string => `return { name: 'tried', onRequest(x) { ${code} } }`

for (const [what, compile, message] of [
  ['returns undefined', hook(''), /it returned undefined/],
  ['throws', hook("throw new Error('boom')"), /onRequest for .*boom/],
  [
    'refuses with a code of nobody',
    hook("return { ...env.refusal('GW_POLICY_REFUSED', 'no'), problem: { code: 'GW_MINE' } }"),
    /must be a known error code/,
  ],
  [
    'shows its secret',
    `const no = env.refusal('GW_POLICY_REFUSED', 'not ' + config.key); ${hook('return no')}`,
    /a secret leaks into a response/,
  ],
  ['does not compile', "throw new Error('no luck')", /compile failed: Error: no luck/],
] as const) {
  test(`gw plugin test finds a policy that ${what}`, async (t) => {
    const { code, stdout, stderr } = await tested(t, compile, '{ key: "hidden-value" }')
    assert.equal(code, 1, stdout + stderr)
    assert.match(stdout, /FAIL contract of tried/)
    assert.match(stdout, message)
    assert.doesNotMatch(stdout + stderr, /hidden-value/)
  })
}

test('gw plugin test finds a policy that costs more than its budget', async (t) => {
  const busy = hook("for (let i = 0; i < 200_000; i++) x.query = ''; return null")
  const { code, stdout } = await tested(t, busy, '{}', { sluice: { contract: '^1', budgetMicros: 5 } })
  assert.equal(code, 1, stdout)
  assert.match(stdout, /the cost exceeds sluice\.budgetMicros, 5 µs/)
})

test('gw plugin list shows the plugins of a document and why they cannot be used', async (t) => {
  const dir = scratch(t)
  installPackage(dir, { name: 'good', version: '1.2.3', code: policyCode('good') })
  installPackage(dir, { name: 'old', contract: '^9', code: policyCode('old') })
  writeFileSync(join(dir, 'gateway.yaml'), 'version: 1\nplugins: [good, old]\n')
  const { code, stdout } = await gw(['plugin', 'list', join(dir, 'gateway.yaml')])
  assert.equal(code, 3)
  assert.match(stdout, /good +1\.2\.3 +\^1 +good +ok/)
  assert.match(stdout, /needs contract version \^9/)
})

test('a plugin policy that never finishes compiling is named', async (t) => {
  const dir = scratch(t)
  installPackage(dir, { name: 'endless', code: policyCode('endless', 'for (;;);') })
  const config = join(dir, 'gateway.yaml')
  const route = 'id: a, match: { path: /a }, respond: { status: 200 }, policies: [{ use: endless }]'
  writeFileSync(config, `version: 1\nplugins: [endless]\nroutes: [{ ${route} }]\n`)
  await assert.rejects(
    mistakesOf(await loadFile(config), catalog, 2000),
    /'endless' of the plugin 'endless' takes longer than 2 s/,
  )
})

test('gw schema includes the plugin policies of a document', async (t) => {
  const dir = scratch(t)
  installPackage(dir, { name: 'good', version: '1.2.3', code: policyCode('good') })
  const config = join(dir, 'gateway.yaml')
  writeFileSync(config, 'version: 1\nplugins: [good]\n')
  const [own, all] = await Promise.all([gwInProcess(['schema']), gwInProcess(['schema', '-c', config])])
  const names = ({ stdout }: Outcome): string[] =>
    JSON.parse(stdout).definitions.policy.properties.use.anyOf[0].enum
  assert.deepEqual([names(own).includes('good'), names(all).includes('good')], [false, true])
})

test('the examples work, one from its tarball and one from a folder next to the document', async (t) => {
  const dir = scratch(t)
  const built = join(EXAMPLES, 'sluice-plugin-deprecation')
  const packed = npm(built, 'pack', '--pack-destination', dir, '--silent').trim().split('\n').at(-1)!
  writeFileSync(join(dir, 'package.json'), '{ "private": true }')
  npm(dir, 'install', '--offline', '--no-audit', '--no-fund', `./${packed}`)
  cpSync(join(EXAMPLES, 'sluice-plugin-tenant-list'), join(dir, 'tenants'), { recursive: true })
  const target = await origin(t, (req, res) => res.end(String(req.headers['x-tenant'])))
  const config = join(dir, 'gateway.yaml')
  writeFileSync(config, documentOf(target))
  writeFileSync(join(dir, 'hosts.txt'), 'localhost local\n')
  const { stdout, stderr, process: child } = spawnGw(t, startArgs(t, config))
  await until(() => stdout().includes('admin API on') || child.exitCode !== null, stderr)
  const url = /listening on (\S+)/.exec(stdout())?.[1] ?? assert.fail(stderr())
  const port = new URL(url).port
  const listed = await gwInProcess(['plugin', 'list', '--server', /admin API on (\S+)/.exec(stdout())![1]!])
  assert.match(listed.stdout, /sluice-plugin-deprecation +1\.0\.0 +\^1 +deprecation +ok/)
  const old = await fetch(`${url}/old`)
  assert.equal(old.headers.get('deprecation'), '@1780272000')
  assert.equal(old.headers.get('sunset'), 'Thu, 31 Dec 2099 00:00:00 GMT')
  assert.equal(old.headers.get('link'), '<https://example.com/v2>; rel="deprecation"')
  const ended = await fetch(`${url}/ended`)
  assert.deepEqual([ended.status, ended.headers.get('x-gw-error')], [410, 'GW_POLICY_REFUSED'])
  const tenants = `http://localhost:${port}/tenants`
  assert.equal(await (await fetch(tenants, { headers: { 'x-tenant': 'forged' } })).text(), 'local')
  assert.equal((await fetch(`${url}/tenants`)).status, 403)
})

function documentOf(target: string): string {
  return `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 1
log: { sink: none }
plugins: [sluice-plugin-deprecation, ./tenants]
upstreams: { up: { targets: ["${target}"] } }
routes:
  - id: old
    match: { path: /old }
    upstream: up
    policies: [{ use: deprecation, with: { since: 2026-06-01, sunset: 2099-12-31, guide: https://example.com/v2 } }]
  - id: ended
    match: { path: /ended }
    upstream: up
    policies: [{ use: deprecation, with: { since: 2020-01-01, sunset: 2021-01-01 } }]
  - id: tenants
    match: { path: /tenants }
    upstream: up
    policies: [{ use: tenant-list, with: { file: hosts.txt } }]
`
}
