import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isolatedVmSkip, nodeWithIsolatedVm } from '@sluice/policies/testing'
import { documentFor, fileWith, gw, type RunningGateway, startGateway, statusOf, until } from './testing.js'

/** V8 knows the languages of the world, QuickJS does not. */
const INLINE = `export function onRequest(ctx) {
  if (ctx.req.path === '/hang') new Array(2 ** 32 - 1).indexOf(1)
  ctx.respond(200, typeof Intl)
}`
const V8 = 'object'
const QUICKJS = 'undefined'

/** Bodies of this size are given to scripts on threads. */
const ON_A_THREAD = { method: 'POST', body: 'a'.repeat(40_000) }

test('a script runs in isolated-vm if it is installed, unless the document names QuickJS', {
  skip: isolatedVmSkip,
}, async (t) => {
  const named = documentWith({ engine: 'quickjs' })
  const gateway = await startGateway(t, named, [], nodeWithIsolatedVm())
  assert.equal(await (await fetch(gateway.url)).text(), QUICKJS)
  assert.equal(await (await fetch(gateway.url, ON_A_THREAD)).text(), QUICKJS)
  assert.ok(!gateway.logText().includes('"script_engine"'), gateway.logText())
  await deploy(gateway, documentWith({}))
  assert.equal(await (await fetch(gateway.url)).text(), V8)
  assert.equal(await (await fetch(gateway.url, ON_A_THREAD)).text(), V8)
  assert.ok(gateway.logText().includes('"script_engine"'), gateway.logText())
})

test('a script runs in QuickJS without isolated-vm', async (t) => {
  const gateway = await startGateway(t, documentWith({}))
  assert.equal(await (await fetch(gateway.url)).text(), QUICKJS)
  await deploy(gateway, documentWith({ engine: 'quickjs' }))
  assert.equal(await (await fetch(gateway.url)).text(), QUICKJS)
})

test('a script call that V8 cannot interrupt causes a worker replacement', {
  skip: isolatedVmSkip,
}, async (t) => {
  const gateway = await startGateway(t, documentWith({}), [], nodeWithIsolatedVm())
  const hung = (await statusOf(gateway.admin)).workers[0]!.pid
  await assert.rejects(fetch(`${gateway.url}/hang`))
  await until(() => gateway.logText().includes('"worker.silent"'), gateway.logText)
  await until(async () => {
    const { workers } = await statusOf(gateway.admin)
    return workers.every(({ state, pid }) => state === 'ready' && pid !== hung)
  })
  assert.equal(await (await fetch(gateway.url)).text(), V8)
})

test('gw script test prints the engine', { skip: isolatedVmSkip }, async (t) => {
  const file = fileWith(t, INLINE, 'script.js')
  const here = await gw(['script', 'test', file])
  assert.match(here.stderr, /in quickjs/)
  const there = await gw(['script', 'test', file, '--engine', 'isolated-vm'], nodeWithIsolatedVm())
  assert.match(there.stderr, /in isolated-vm/)
})

async function deploy({ admin }: RunningGateway, body: string): Promise<void> {
  const headers = { 'content-type': 'application/yaml' }
  const { status } = await fetch(`${admin}/v1/config`, { method: 'PUT', headers, body })
  assert.equal(status, 200)
}

function documentWith(engine: object): string {
  const use = {
    use: 'script',
    with: { script: { inline: INLINE }, body: 'request', limits: { time: '1s' }, ...engine },
  }
  return documentFor('http://127.0.0.1:1').replace(
    '    upstream: up\n',
    `    upstream: up\n    policies: ${JSON.stringify([use])}\n`,
  )
}
