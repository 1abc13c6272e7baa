import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isolatedVmSkip, nodeWithIsolatedVm } from '@sluice/policies/testing'
import { documentFor, fileWith, gw, startGateway, statusOf, until } from './testing.js'

/** V8 knows the languages of the world, QuickJS does not. */
const INLINE = `export function onRequest(ctx) {
  if (ctx.req.path === '/hang') new Array(2 ** 32 - 1).indexOf(1)
  ctx.respond(200, typeof Intl)
}`
const V8 = 'object'
const QUICKJS = 'undefined'

/** Bodies of this size are given to scripts on threads. */
const ON_A_THREAD = { method: 'POST', body: 'a'.repeat(40_000) }

/** What a script answers in a gateway, whose document leaves the engine open or names it. */
const CASES = [
  { engine: {}, installed: V8, alone: QUICKJS },
  { engine: { engine: 'quickjs' }, installed: QUICKJS, alone: QUICKJS },
]

for (const { engine, installed, alone } of CASES) {
  const named = JSON.stringify(engine)
  test(`${named}: a gateway beside isolated-vm`, { skip: isolatedVmSkip }, async (t) => {
    const gateway = await startGateway(t, documentWith(engine), [], nodeWithIsolatedVm())
    assert.equal(await (await fetch(gateway.url)).text(), installed)
    assert.equal(await (await fetch(gateway.url, ON_A_THREAD)).text(), installed)
    assert.equal(gateway.logText().includes('"script_engine"'), installed === V8, gateway.logText())
  })

  test(`${named}: a gateway without isolated-vm`, async (t) => {
    const gateway = await startGateway(t, documentWith(engine))
    assert.equal(await (await fetch(gateway.url)).text(), alone)
  })
}

test('a script call that V8 cannot interrupt causes a worker replacement', {
  skip: isolatedVmSkip,
}, async (t) => {
  const gateway = await startGateway(t, documentWith({}), ['--workers', '1'], nodeWithIsolatedVm())
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
