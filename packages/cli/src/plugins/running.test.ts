import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { installPackage, policyCode } from '@sluice/config/testing'
import { gwInProcess } from '../testing/in-process.js'
import { gw, scratch, spawnGw, startArgs, statusOf, until } from '../testing.js'

/** What the policy does, as its parameter `say` asks. */
const DEEDS = `
  if (config.say === 'uncompilable') throw new Error('it cannot be done')
  if (config.say === 'compile-nothing') return undefined
  if (config.say === 'compile-typo') return { onrequest: () => null }
  if (config.say === 'loop-compile') for (;;);
  const deeds = {
    greet: (x) => (sluice.setHeader(x.headers, 'x-greeting', 'VERSION'), null),
    undefined: () => undefined,
    number: () => 7,
    nonsense: () => ({ status: 'teapot' }),
    'unknown-code': () => ({ ...env.refusal('GW_POLICY_REFUSED', 'no'), problem: { code: 'GW_MINE', title: '', detail: '' } }),
    throw: () => { throw new Error('boom') },
    reject: async () => { throw new Error('late boom') },
    'late-number': async () => 7,
    'null-field': (x) => (x.headers.push('x-a', null), null),
    refuse: () => ({ ...env.refusal('GW_POLICY_REFUSED', 'not today'), status: 451 }),
    reply: () => sluice.answer(200, ['x-greeting', 'VERSION'], Buffer.from('VERSION')),
    hang: () => { for (;;); },
  }
  return { name: '${'deeds'}', onRequest: deeds[config.say] }`

const FAILING = [
  'undefined',
  'number',
  'nonsense',
  'unknown-code',
  'throw',
  'reject',
  'late-number',
  'null-field',
]

function install(dir: string, version: string): void {
  const code = policyCode('deeds', DEEDS).replaceAll('VERSION', version)
  installPackage(dir, { name: 'deeds', version, code })
}

function documentOf(says: readonly string[]): string {
  const routes = says.map(
    (say) =>
      `  - { id: ${say}, match: { path: /${say} }, respond: { status: 200, body: fine }, policies: [{ id: my-${say}, use: deeds, with: { say: "${say}" } }] }`,
  )
  return `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 1
log: { sink: none }
plugins: [deeds]
routes:
  - { id: free, match: { path: /free }, respond: { status: 200, body: free } }
${routes.join('\n')}
`
}

interface Running {
  readonly url: string
  readonly admin: string
  readonly config: string
  log(): string
}

async function running(t: TestContext, dir: string, says: readonly string[]): Promise<Running> {
  const config = join(dir, 'gateway.yaml')
  writeFileSync(config, documentOf(says))
  const { stdout, stderr, process: child } = spawnGw(t, startArgs(t, config))
  await until(() => stdout().includes('admin API on') || child.exitCode !== null, stderr)
  const url = /listening on (\S+)/.exec(stdout())?.[1] ?? assert.fail(stderr())
  return { url, admin: /admin API on (\S+)/.exec(stdout())?.[1] ?? '', config, log: stderr }
}

test('a failing plugin policy affects only its own route', async (t) => {
  const dir = scratch(t)
  install(dir, '1.0.0')
  const gateway = await running(t, dir, [...FAILING, 'refuse', 'reply'])
  for (const say of FAILING) {
    const response = await fetch(`${gateway.url}/${say}`)
    const { code } = (await response.json()) as { code: string }
    assert.deepEqual([say, response.status, code], [say, 500, 'GW_POLICY_ERROR'])
    assert.equal(await (await fetch(`${gateway.url}/free`)).text(), 'free')
  }
  await until(() => gateway.log().includes('late boom'), gateway.log)
  assert.match(
    gateway.log(),
    /policy 'deeds' of the plugin 'deeds': onRequest: it returned undefined; return null or a reply/,
  )
  assert.match(gateway.log(), /onRequest: it returned a number/)
  const refused = await fetch(`${gateway.url}/refuse`)
  const problem = (await refused.json()) as { code: string; detail: string }
  assert.deepEqual(
    [refused.status, refused.headers.get('x-gw-error'), problem.code],
    [451, 'GW_POLICY_REFUSED', 'GW_POLICY_REFUSED'],
  )
  assert.match(problem.detail, /not today/)
  assert.equal(
    await (await fetch(`${gateway.url}/reply`, { headers: { connection: 'close' } })).text(),
    '1.0.0',
  )
  const status = (await (await fetch(`${gateway.admin}/v1/status`)).json()) as {
    plugins: { name: string; policies: string[] }[]
  }
  assert.deepEqual([status.plugins[0]?.name, status.plugins[0]?.policies], ['deeds', ['deeds']])
})

test('an endless hook is named in the log, and its worker is replaced', async (t) => {
  const dir = scratch(t)
  install(dir, '1.0.0')
  const gateway = await running(t, dir, ['hang'])
  const hung = (await statusOf(gateway.admin)).workers[0]!.pid
  await assert.rejects(fetch(`${gateway.url}/hang`))
  assert.match(gateway.log(), /plugin\.hangs.*policy 'deeds' of the plugin 'deeds': onRequest/)
  assert.match(gateway.log(), /worker\.silent/)
  await until(async () => {
    const { workers } = await statusOf(gateway.admin)
    return workers.every(({ state, pid }) => state === 'ready' && pid !== hung)
  })
  assert.equal(await (await fetch(`${gateway.url}/free`)).text(), 'free')
})

test('gw validate and deployments name the plugin policy that does not compile', async (t) => {
  const dir = scratch(t)
  install(dir, '1.0.0')
  const gateway = await running(t, dir, ['greet'])
  const next = join(dir, 'next.yaml')
  for (const [say, message] of [
    ['uncompilable', /my-uncompilable.*it cannot be done/],
    ['compile-nothing', /my-compile-nothing.*compile returned undefined; return hooks or null/],
    ['compile-typo', /my-compile-typo.*compile returned no hook; return at least one of onRequest/],
  ] as const) {
    writeFileSync(next, documentOf([say]))
    const validated = await gwInProcess(['validate', next])
    assert.equal(validated.code, 3, validated.stderr)
    assert.match(validated.stderr, message)
    const deployed = await gwInProcess(['deploy', '-c', next, '--server', gateway.admin])
    assert.notEqual(deployed.code, 0)
    assert.match(deployed.stderr, message)
  }
  writeFileSync(next, documentOf(['loop-compile']))
  const hung = await gw(['deploy', '-c', next, '--server', gateway.admin], { timeout: 60_000 })
  assert.match(hung.stderr, /it was compiling the policy 'deeds' of the plugin 'deeds'/)
  await until(async () => (await fetch(`${gateway.url}/free`).catch(() => null))?.status === 200, gateway.log)
})

test('a deployment after an upgrade loads the new code in new workers, and keeps the old code on failure', async (t) => {
  const dir = scratch(t)
  install(dir, '1.0.0')
  const gateway = await running(t, dir, ['reply'])
  const deploy = () => gwInProcess(['deploy', '-c', gateway.config, '--server', gateway.admin])
  const answer = async () =>
    (await fetch(`${gateway.url}/reply`, { headers: { connection: 'close' } })).text()
  assert.equal(await answer(), '1.0.0')
  install(dir, '1.1.0')
  assert.equal(await answer(), '1.0.0')
  const upgraded = await deploy()
  assert.equal(upgraded.code, 0, upgraded.stderr)
  assert.match(upgraded.stdout + upgraded.stderr, /plugin deeds/)
  // What an old worker was sent it still answers.
  await until(async () => (await answer()) === '1.1.0')
  assert.match(gateway.log(), /workers\.replaced.*a plugin has changed/)
  const code = policyCode('deeds', "throw new Error('a bad release')")
  installPackage(dir, { name: 'deeds', version: '1.2.0', code })
  const broken = await deploy()
  assert.notEqual(broken.code, 0)
  assert.match(broken.stderr, /a bad release/)
  assert.equal(await answer(), '1.1.0')
})
