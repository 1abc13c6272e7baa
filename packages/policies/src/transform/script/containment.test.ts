import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Step } from '@sluice/core'
import { cpuMs } from '@sluice/core/testing'
import { exchange, type TestEnv, testEnv } from '../../testing.js'
import { script } from './policy.js'

/** Maximum time that a script may block the gateway, generous for a busy machine. */
const LONGEST_MS = 10_000

async function open(t: TestContext, attack: string): Promise<{ step: Step; env: TestEnv }> {
  const env = testEnv()
  t.after(() => env.close())
  const inline = `
    export function onRequest(ctx) {
      if (ctx.req.path === '/next') { ctx.log('works'); return }
      ${attack}
    }`
  return { step: (await script.compile({ script: { inline } }, env)) as Step, env }
}

async function attacked({ step }: { readonly step: Step }): Promise<unknown> {
  const beforeMs = cpuMs()
  try {
    return await step.onRequest?.(exchange())
  } catch (error) {
    return (error as Error).message
  } finally {
    assert.ok(cpuMs() - beforeMs < LONGEST_MS)
  }
}

function lineOf({ reports }: TestEnv, at: number): string {
  return (reports.at(at) as { fields: { line: string } }).fields.line
}

async function worksAfterwards({ step, env }: { readonly step: Step; readonly env: TestEnv }): Promise<void> {
  assert.equal(await step.onRequest?.(exchange({ path: '/next' })), null)
  assert.equal(lineOf(env, -1), 'works')
}

const TIME = /exceeded its time limit/
const MEMORY = /out of memory|exceeded its time limit|too long/
const STACK = /stack overflow|too deep/
const ANYTHING = /./

const BOMBS: readonly (readonly [name: string, attack: string, message: RegExp])[] = [
  ['an endless loop', 'for (;;);', TIME],
  [
    'an endless loop that catches all it can',
    'for (;;) try { for (;;); } catch {} finally { for (;;); }',
    TIME,
  ],
  ['endless recursion', '(function f() { f() })()', STACK],
  ['endless recursion inside the engine', 'const a = []; a[0] = a; a.flat(Infinity)', STACK],
  ['JSON that is too deep', 'JSON.parse("[".repeat(1e6))', STACK],
  ['doubling a string', 'let s = "x"; for (;;) s += s', MEMORY],
  ['growing an array', 'const a = []; for (;;) a.push(new Array(1000).fill(1.5))', MEMORY],
  ['growing a map', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, i)', MEMORY],
  ['ArrayBuffers', 'const a = []; for (;;) a.push(new ArrayBuffer(1e6))', MEMORY],
  ['filling all memory again and again', 'const u = new Uint8Array(8e6); for (;;) u.fill(1)', MEMORY],
  ['a regular expression that backtracks', '/^(a+)+$/.test("a".repeat(50) + "b")', TIME],
  ['another one', '/(x+x+)+y/.exec("x".repeat(50))', TIME],
  ['a search in an array with holes', 'new Array(2 ** 32 - 1).indexOf(1)', TIME],
  ['an array that only claims its length', 'Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)', TIME],
  ['a function for each hole', 'new Array(2 ** 32 - 1).forEach(() => {})', TIME],
  ['reversing nothing', 'Array.prototype.reverse.call({ length: 2 ** 50 })', TIME],
  ['a long search, many times', 'const s = "x".repeat(1e6); for (;;) s.indexOf("y")', TIME],
  ['huge numbers', 'let b = 2n ** 100000n; for (;;) b = b * b', ANYTHING],
  ['writing a huge number', '(3n ** 400000n).toString()', ANYTHING],
  ['a JSON filter of holes', 'const a = []; a.length = 4e9; JSON.stringify({}, a)', TIME],
  [
    'promises without end',
    '(function f() { Promise.resolve().then(f) })()',
    /exceeded its time limit|promise callbacks/,
  ],
  ['a getter that never returns', 'throw { get message() { for (;;); } }', ANYTHING],
  [
    'an error without an end',
    'const e = new Error(); Object.defineProperty(e, "message", { get() { for (;;); } }); throw e',
    TIME,
  ],
  ['a value that is never text', 'ctx.vars.a = { toString() { for (;;); } }', TIME],
  ['a toJSON that never returns', 'ctx.respond(200, { toJSON() { for (;;); } })', TIME],
]

for (const [name, attack, message] of BOMBS) {
  test(`contained: ${name}`, async (t) => {
    const opened = await open(t, attack)
    assert.match(String(await attacked(opened)), message)
    await worksAfterwards(opened)
    await attacked(opened)
    await worksAfterwards(opened)
  })
}

const REFUSED: readonly (readonly [name: string, attack: string, message: RegExp])[] = [
  [
    'a line break in a value',
    'ctx.req.headers.set("a", "b\\r\\nc: d")',
    /character that is not allowed in headers/,
  ],
  ['a line break in a name', 'ctx.req.headers.set("a\\r\\nb", "c")', /is not a header name/],
  ['a NUL in a value', 'ctx.req.headers.set("a", "\\0")', /character that is not allowed in headers/],
  [
    'framing',
    'ctx.req.headers.set("Transfer-Encoding", "chunked")',
    /'transfer-encoding' is set by the gateway/,
  ],
  ['framing of an answer', 'ctx.respond(200, "", { "content-length": "5" })', /'content-length' is set/],
  [
    'splitting an answer',
    'ctx.respond(200, "", { a: "b\\r\\n\\r\\nc" })',
    /character that is not allowed in headers/,
  ],
  ['a status that is none', 'ctx.respond(1000)', /'1000' is not a valid response status/],
  ['a status that is no number', 'ctx.respond({ valueOf: () => "x" })', /is not a valid response status/],
  ['a body after 204', 'ctx.respond(204, "x")', /the status 204 has no body/],
  ['a huge header', 'ctx.req.headers.set("a", "x".repeat(10_000))', /longer than 8192/],
  [
    'many headers',
    'for (let i = 0; i < 300; i++) ctx.req.headers.append("a" + i, "b")',
    /more than 200 changes/,
  ],
  ['many variables', 'for (let i = 0; i < 300; i++) ctx.vars["a" + i] = "b"', /more than 200 variables/],
  ['a huge answer', 'ctx.respond(200, "x".repeat(1024 * 1024 + 1))', /larger than 1048576 bytes/],
  ['half a character', 'ctx.req.query.set("a", "\\ud800")', /incomplete UTF-16 character/],
  ['the request line', 'ctx.req.method = "X\\r\\n"', /read-only/],
  ['code of text', 'ctx.log.constructor.constructor("return process")()', /cannot compile code from text/],
  ['code of text, async', '(async () => {}).constructor("return 1")()', /cannot compile code from text/],
  ['code of text, generator', '(function* () {}).constructor("yield 1")()', /cannot compile code from text/],
  ['eval', 'eval("1")', /'eval' is not defined/],
  ['a module', 'return import("node:fs")', /could not load module/],
  ['a global', 'globalThis.x = 1', /not extensible/],
  ['a prototype', 'Object.prototype.polluted = 1', /not extensible/],
  ['a function of all arrays', 'Array.prototype.map = null', /read-only/],
  ['a function of JSON', 'JSON.stringify = () => "{}"', /read-only/],
  ['a shared name', 'Object.prototype.toString = null', /is shared and cannot be changed/],
]

for (const [name, attack, message] of REFUSED) {
  test(`refused: ${name}`, async (t) => {
    const opened = await open(t, attack)
    assert.match(String(await attacked(opened)), message)
    await worksAfterwards(opened)
  })
}

test('the sandbox has the language and nothing else', async (t) => {
  const names = ['process', 'require', 'fetch', 'setTimeout', 'WebAssembly', 'SharedArrayBuffer', 'Atomics']
  const opened = await open(t, `ctx.log(${names.map((name) => `typeof ${name}`).join(', ')})`)
  assert.equal(await attacked(opened), null)
  assert.deepEqual(opened.env.reports[0]?.fields, {
    script: 'inline script',
    route: 'test',
    id: exchange().id,
    line: names.map(() => 'undefined').join(' '),
  })
})

test('changes to prototypes stay in the sandbox', async (t) => {
  const opened = await open(
    t,
    `const o = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}')
     ctx.respond(200, o)
     ctx.vars.__proto__ = 'x'
     ctx.vars.constructor = 'y'
     try { ctx.req.headers.__proto__.polluted = 1 } catch {}`,
  )
  const x = exchange({ vars: new Map([['__proto__', 'z']]) })
  await opened.step.onRequest?.(x)
  assert.equal(({} as { polluted?: number }).polluted, undefined)
  assert.equal(({} as { x?: number }).x, undefined)
  assert.equal(x.vars?.get('constructor'), 'y')
})

test('objects of a script may use names of prototype members', async (t) => {
  const opened = await open(
    t,
    `class Refusal extends Error { constructor(text) { super(text); this.name = 'Refusal' } }
     const counts = {}
     for (const name of ['toString', 'constructor', 'valueOf']) counts[name] = 1
     ctx.log(counts, new Refusal('no').name, String(new Refusal('no')))`,
  )
  assert.equal(await attacked(opened), null)
  const line = lineOf(opened.env, 0)
  assert.equal(line, '{"toString":1,"constructor":1,"valueOf":1} Refusal Refusal: no')
})

test('globals keep nothing of a request for the next one', async (t) => {
  const opened = await open(
    t,
    `const targets = [globalThis, Object, Object.prototype, Array.prototype, Function.prototype, JSON, Math, Date,
       Error.prototype, Promise, ctx.req.headers.constructor, Object.getPrototypeOf(ctx.req.headers),
       Object.getPrototypeOf(ctx.req.body), Object.getPrototypeOf(function* () {}), Symbol, RegExp, ctx.log.constructor,
       Object.getPrototypeOf([][Symbol.iterator]()), Object.getPrototypeOf(new Map().entries()), Intl ?? Math]
     let left = 0
     for (const target of targets) {
       try { target.leak = ctx.req.id; if (target.leak === ctx.req.id) left++ } catch {}
       try { Object.defineProperty(target, 'leak', { value: 1 }); left++ } catch {}
       try { Object.setPrototypeOf(target, { leak: 1 }); if (target.leak === 1) left++ } catch {}
     }
     ctx.log(left)`.replace(', Intl ?? Math', ''),
  )
  assert.equal(await attacked(opened), null)
  assert.equal(lineOf(opened.env, 0), '0')
})

test('module state is lost with its sandbox', async (t) => {
  const env = testEnv()
  t.after(() => env.close())
  const inline = `
    let calls = 0
    export function onRequest(ctx) { ctx.log(++calls); if (ctx.req.path === '/break') for (;;); }`
  const step = (await script.compile({ script: { inline } }, env)) as Step
  await step.onRequest?.(exchange())
  await step.onRequest?.(exchange())
  await assert.rejects(async () => step.onRequest?.(exchange({ path: '/break' })), TIME)
  await Promise.all([step.onRequest?.(exchange()), step.onRequest?.(exchange())])
  assert.deepEqual(
    env.reports.map(({ fields }) => (fields as { line: string }).line),
    ['1', '2', '1', '2'],
  )
})
