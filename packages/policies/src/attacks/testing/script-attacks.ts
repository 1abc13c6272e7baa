import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Step } from '@sluice/core'
import type { EngineName } from '../../engines/script/engine.js'
import { exchange, testEnv } from '../../testing.js'
import { script } from '../../transform/script/policy.js'
import { type Bait, outcomeOf, plant } from './bait.js'

/** Attacks of a script, as the value of an expression. */
function expressions({ file, url }: Bait): readonly string[] {
  return [
    'globalThis.planted',
    'this.planted',
    'planted',
    'process.env.PLANTED',
    'globalThis.process?.env?.PLANTED',
    'require("fs").readFileSync(FILE)',
    'process.getBuiltinModule("fs").readFileSync(FILE, "utf8")',
    'std.loadFile(FILE)',
    'os.open(FILE, 0)',
    'new Function("return globalThis.planted")()',
    '(0, eval)("globalThis.planted")',
    '(() => {}).constructor("return process")()',
    'ctx.log.constructor("return planted")()',
    'ctx.constructor.constructor("return planted")()',
    'Object.getPrototypeOf(ctx.req.headers).constructor.constructor("return planted")()',
    'Reflect.construct(Function, ["return planted"])()',
    'Reflect.getPrototypeOf(async function () {}).constructor("return planted")()',
    '[].map.call.constructor("return planted")()',
    'new Error().stack',
    '(() => { Error.prepareStackTrace = (_, sites) => sites.map((s) => String(s.getThis?.()) + s.getFunction?.()); return new Error().stack })()',
    '(() => { try { null.x } catch (e) { return e.constructor.constructor("return planted")() } })()',
    'Object.getOwnPropertyNames(globalThis).map((n) => { try { return n + String(globalThis[n]) } catch { return n } })',
    'fetch(URL)',
    'new XMLHttpRequest().open("GET", URL)',
    'new WebSocket(URL)',
    'importScripts(URL)',
    'WebAssembly.compile(new Uint8Array(8))',
    'new SharedArrayBuffer(8)',
    'new Worker(URL)',
    'setTimeout(() => {}, 0)',
    'queueMicrotask(() => {})',
    'console.log(1)',
  ].map((one) => one.replaceAll('FILE', JSON.stringify(file)).replaceAll('URL', JSON.stringify(url)))
}

/** Bodies of callers and upstreams that a script may read carelessly. */
const BODIES = [
  '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
  '{"toJSON":1,"then":1,"toString":null}',
  '{"a":"\\u2028\\u2029</script>${globalThis.planted}"}',
  `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
]

/** Runs all attacks in an engine. @returns the number of requests that reached the network */
export async function attackScripts(t: TestContext, engine: EngineName): Promise<number> {
  const bait = await plant(t)
  for (const one of expressions(bait)) {
    await outcomeOf(async () => {
      const env = testEnv()
      t.after(() => env.close())
      const inline = `export async function onRequest(ctx) { const v = await (${one}); ctx.vars.found = String(v) }`
      const step = (await script.compile({ script: { inline }, engine }, env)) as Step
      const x = exchange()
      await step.onRequest?.(x)
      return [x.vars, env.reports]
    })
  }
  for (const path of [bait.file, 'node:fs', 'fs', 'std', 'os', bait.url, 'data:text/javascript,1']) {
    const source = `import * as m from ${JSON.stringify(path)}; export function onRequest(ctx) { ctx.vars.a = String(m) }`
    await assert.rejects(async () => script.compile({ script: { inline: source }, engine }, testEnv()), path)
  }
  await attackByBodies(t, engine)
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
  return bait.visits
}

async function attackByBodies(t: TestContext, engine: EngineName): Promise<void> {
  const env = testEnv()
  t.after(() => env.close())
  const inline = `export function onRequest(ctx) {
    const body = ctx.req.body.json()
    const copy = {}
    for (const key in body) copy[key] = body[key]
    Object.assign(copy, body)
    ctx.vars.polluted = String({}.polluted)
    ctx.req.body.set({ ...body, text: ctx.req.headers.get('x') })
  }`
  const step = (await script.compile({ script: { inline }, engine, body: 'request' }, env)) as Step
  for (const body of BODIES) {
    await outcomeOf(async () => {
      const x = exchange({ method: 'POST', headers: ['x', '${globalThis.planted}'] })
      const reply = await step.onRequestBody?.(x, Buffer.from(body))
      assert.notEqual(x.vars?.get('polluted'), '1')
      return [reply, x.body]
    })
  }
}
