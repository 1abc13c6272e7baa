import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { displayPlan } from '../compare/display-plan.js'
import { formatDiagnostic } from '../diagnostic/diagnostic.js'
import { type LoadResult, loadDocument } from '../load/load-document.js'
import { editorSchema } from '../manual/editor-schema.js'
import { locatePlugin } from './locate-plugin.js'
import { describedCatalog } from './plugin-set.js'
import { probePlugin } from './probe-plugin.js'
import { readPlugins } from './read-plugins.js'
import { installPackage, policyCode, type WrittenPackage } from './testing.js'

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'plugins-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** Loads a document that names plugins and uses one policy. */
async function load(dir: string, plugins: string, use = ''): Promise<LoadResult> {
  const policies = use === '' ? '' : `, policies: [${use}]`
  const text = `version: 1
plugins: ${plugins}
routes:
  - { id: a, respond: { status: 200 }${policies} }
`
  const source = { name: join(dir, 'gateway.yaml'), text }
  return loadDocument(source, { catalog: new Map(), env: {}, plugins: await readPlugins(source, new Map()) })
}

function mistakes(result: LoadResult): string[] {
  assert.ok(!result.ok, 'the document should have mistakes')
  return result.diagnostics.map((one) => formatDiagnostic(one).replace(/^.*gateway\.yaml:/, ''))
}

test('a plugin brings policies, whose schema says what is wrong where, fills defaults and hides secrets', async (t) => {
  const dir = folder(t)
  installPackage(dir, { name: 'greeter', version: '1.2.3', code: policyCode('greet') })
  const result = await load(dir, '[greeter]', '{ use: greet, with: { key: hidden } }')
  assert.ok(result.ok, JSON.stringify(result))
  const [plugin] = result.bundle.plan.plugins
  assert.deepEqual([plugin?.name, plugin?.version, plugin?.contract], ['greeter', '1.2.3', '^1'])
  assert.deepEqual(result.bundle.plan.routes[0]?.policies[0]?.with, { key: 'hidden', say: 'hello' })
  assert.doesNotMatch(JSON.stringify(displayPlan(result.bundle.plan, new Map())), /hidden/)
  assert.match(JSON.stringify(displayPlan(result.bundle.plan, new Map())), /hello/)
  assert.match(JSON.stringify(editorSchema(describedCatalog(new Map(), result.bundle.plan.plugins))), /greet/)
  assert.deepEqual(mistakes(await load(dir, '[greeter]', '{ use: greet, with: { sya: x } }')), [
    "4:73: unknown key 'sya' (did you mean 'say'?)",
  ])
  assert.match(
    mistakes(await load(dir, '[greeter]', '{ use: gret }'))[0]!,
    /there is no policy 'gret' .*greet/,
  )
})

test('packages are found in folders above, and folders below by their path', async (t) => {
  const dir = folder(t)
  const installed = installPackage(dir, { name: '@acme/greeter', code: policyCode('greet') })
  const below = join(dir, 'etc', 'gateway')
  mkdirSync(below, { recursive: true })
  assert.ok((await load(below, '["@acme/greeter"]')).ok)
  symlinkSync(installed, join(below, 'mine'))
  assert.ok((await load(below, '[./mine]')).ok)
})

const CASES: readonly (readonly [string, Partial<WrittenPackage>, RegExp])[] = [
  ['throws at import', { code: "throw new Error('no luck')" }, /cannot be loaded: Error: no luck/],
  ['ends the process', { code: 'process.exit(3)' }, /it ended the process/],
  ['has a mistake', { code: 'export default {' }, /SyntaxError/],
  ['exports nothing', { code: 'export const a = 1' }, /default export contains no policies/],
  ['exports a number', { code: 'export default 7' }, /policy 1 is number, not an object/],
  ['exports policies without names', { code: 'export default [{}]' }, /has no name in kebab-case/],
  ['exports no compile', { code: policyCode('greet').replace('compile(', 'compil(') }, /no compile function/],
  [
    'has a schema that is none',
    { code: policyCode('greet').replace("'string'", "'strnig'") },
    /schema of its policy 'greet' is invalid/,
  ],
  [
    'has an unknown keyword',
    { code: policyCode('greet').replace('secret:', 'secert:') },
    /unknown keyword: "secert"/,
  ],
  ['needs another contract', { contract: '^2' }, /needs contract version \^2, but this gateway has 1\./],
  ['says no contract', { contract: null }, /does not declare the contract version/],
  ['is not built', { facts: { exports: './gone.js' } }, /does not exist; build the package/],
  ['leads out of its folder', { facts: { exports: '../../gateway.yaml' } }, /is outside its folder/],
  ['is no ES module', { facts: { type: 'commonjs' } }, /not an ES module/],
  ['throws a value', { code: 'throw { toString() { throw 1 } }' }, /cannot be shown/],
]

for (const [what, written, message] of CASES) {
  test(`a plugin that ${what} is one mistake at its name`, async (t) => {
    const dir = folder(t)
    writeFileSync(join(dir, 'gateway.yaml'), '')
    installPackage(dir, { name: 'broken', code: policyCode('greet'), ...written })
    const found = mistakes(await load(dir, '[broken]', '{ use: greet }'))
    assert.equal(found.length, 1, found.join('\n'))
    assert.match(found[0]!, /^2:11: the plugin 'broken' cannot be used: /)
    assert.match(found[0]!, message)
  })
}

for (const name of [
  '../up',
  './a/../../up',
  '/etc',
  'http://x.example/p.js',
  'data:text/javascript,1',
  'a/b',
  'node:fs',
  '.hidden',
]) {
  test(`'${name}' names no plugin`, async (t) => {
    assert.equal(mistakes(await load(folder(t), JSON.stringify([name]))).length, 1)
  })
}

test('a plugin that loops or eats memory at import is stopped', async (t) => {
  const dir = folder(t)
  for (const [name, code, message] of [
    ['loops', 'for (;;);', /longer than 0.3 s/],
    ['eats', 'const all = []; for (;;) all.push(new Array(1e5).fill(all.length))', /more than 32 MB/],
  ] as const) {
    installPackage(dir, { name, code })
    const located = await locatePlugin(name, dir)
    const bounds = { deadlineMs: name === 'loops' ? 300 : 60_000, memoryMb: 32 }
    await assert.rejects(probePlugin(located, bounds), message)
  }
})

test('two policies of one name are a mistake that names both owners', async (t) => {
  const dir = folder(t)
  installPackage(dir, { name: 'first', code: policyCode('greet') })
  installPackage(dir, { name: 'second', code: policyCode('greet') })
  const found = mistakes(await load(dir, '[first, second]', '{ use: greet }'))
  assert.match(found.join('\n'), /'second' has a policy 'greet', but the plugin 'first' already has one/)
  const source = { name: join(dir, 'g.yaml'), text: 'plugins: [first]' }
  const own = new Map([['greet', { name: 'greet' } as never]])
  assert.match(JSON.stringify([...(await readPlugins(source, own))]), /but the gateway already has one/)
})

test('a name that is a reference, or stands twice, is a mistake', async (t) => {
  const dir = folder(t)
  installPackage(dir, { name: 'first', code: policyCode('greet') })
  assert.match(mistakes(await load(dir, '[first, first]')).join(), /is listed twice/)
  assert.equal(mistakes(await load(dir, '["${env:HOME}"]')).length, 1)
})

test('another version, and another file of the same version, make another digest', async (t) => {
  const dir = folder(t)
  const digests = new Set<string>()
  for (const [version, say] of [
    ['1.0.0', 'a'],
    ['1.0.1', 'a'],
    ['1.0.1', 'b'],
  ] as const) {
    installPackage(dir, { name: 'first', version, code: policyCode('greet', `'${say}'; return null`) })
    const result = await load(dir, '[first]')
    assert.ok(result.ok)
    digests.add(result.bundle.digest)
  }
  assert.equal(digests.size, 3)
})
