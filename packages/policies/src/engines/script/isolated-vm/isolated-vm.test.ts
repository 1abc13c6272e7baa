import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PolicyFailure, Step } from '@sluice/core'
import { attackScripts } from '../../../attacks/testing/script-attacks.js'
import { exchange, testEnv } from '../../../testing.js'
import { script } from '../../../transform/script/policy.js'
import { callWaitsForPromises } from '../../../transform/script/testing/promise-cases.js'
import { isIsolatedVmInstalled } from './isolated-vm-engine.js'

const isInstalled = isIsolatedVmInstalled()
const skip = isInstalled ? false : 'isolated-vm is not installed'

const SCRIPT = `
let calls = 0
export async function onRequest(ctx) {
  ctx.vars.calls = ++calls
  const attack = ctx.req.headers.get('x-attack')
  if (attack === 'loop') for (;;);
  if (attack === 'memory') { const a = []; for (;;) a.push(new Array(100_000).fill(1.5)) }
  if (attack === 'stack') (function f() { f() })()
  if (attack === 'promises') (function f() { Promise.resolve().then(f) })()
  if (attack === 'code') ctx.log.constructor('return process')()
  if (attack === 'global') globalThis.x = 1
  await null
  const body = ctx.req.body.json()
  body.n++
  ctx.req.body.set(body)
}
`

test('without the package the engine is refused when the document is loaded', async (t) => {
  if (isInstalled) return t.skip('isolated-vm is installed')
  await assert.rejects(
    async () => script.compile({ script: { inline: SCRIPT }, engine: 'isolated-vm' }, testEnv()),
    /the package isolated-vm is not installed; install it, or set engine: quickjs/,
  )
})

test('engine auto is isolated-vm if available, else QuickJS', async (t) => {
  const env = testEnv()
  t.after(() => env.close())
  // V8 has Intl data, QuickJS does not.
  const inline = 'export function onRequest(ctx) { ctx.vars.intl = typeof Intl }'
  const step = (await script.compile({ script: { inline } }, env)) as Step
  const x = exchange()
  assert.equal(await step.onRequest?.(x), null)
  assert.equal(x.vars?.get('intl'), isInstalled ? 'object' : 'undefined')
})

test('isolated-vm runs the same scripts, and contains what they do', { skip }, async (t) => {
  const env = testEnv()
  t.after(() => env.close())
  const limits = { time: '500ms' }
  const config = { script: { inline: SCRIPT }, engine: 'isolated-vm', body: 'request', limits } as const
  const step = (await script.compile(config, env)) as Step
  const works = async (): Promise<void> => {
    const x = exchange()
    assert.equal(await step.onRequestBody?.(x, Buffer.from('{"n":1}')), null)
    assert.equal(Buffer.from(x.body!).toString(), '{"n":2}')
  }
  await works()
  for (const [attack, message] of [
    ['loop', /exceeded its time limit/],
    ['memory', /out of memory|exceeded its time limit/],
    ['stack', /Maximum call stack|exceeded its time limit/],
    ['promises', /exceeded its time limit/],
    ['code', /cannot compile code from text/],
    ['global', /not extensible/],
  ] as const) {
    const x = exchange({ headers: ['x-attack', attack] })
    await assert.rejects(
      async () => step.onRequestBody?.(x, Buffer.from('{}')),
      (error: PolicyFailure) => error.code === 'GW_SCRIPT_ERROR' && message.test(error.message),
      attack,
    )
    await works()
  }
})

test(
  'isolated-vm: a call waits for promises that nobody awaits, and fails by their rejection',
  { skip },
  (t) => callWaitsForPromises(t, 'isolated-vm'),
)

test('isolated-vm: no script reads what is planted, runs other code or reaches the network', {
  skip,
}, async (t) => {
  assert.equal(await attackScripts(t, 'isolated-vm'), 0)
})
