import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange, Step } from '@sluice/core'
import { exchange, testEnv } from '../testing.js'
import { transform } from '../transform/transform/policy.js'
import { outcomeOf, plant } from './testing/bait.js'

// JSONata evaluates the author's expression over the bytes of callers and upstreams.

async function evaluated(source: string, body: unknown = { a: 1 }): Promise<Exchange> {
  const env = testEnv()
  try {
    const config = { request: { jsonata: { inline: source } }, response: { jsonata: { inline: source } } }
    const step = (await transform.compile(config, env)) as Step
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    const x = exchange({ method: 'POST', headers: ['content-type', 'application/json'], body: bytes })
    const outcome = await step.onRequestBody?.(x, bytes)
    if (outcome !== null && outcome !== undefined) throw new Error(String(outcome.problem?.code))
    return x
  } finally {
    env.close()
  }
}

const outcome = (source: string, body?: unknown): Promise<string> =>
  outcomeOf(async () => Buffer.from((await evaluated(source, body)).body!).toString())

test('an expression works', async () => {
  assert.match(await outcome('{"b": a + 1}'), /\\"b\\":2/)
})

test('no expression runs code, or reads what is planted', async (t) => {
  const bait = await plant(t)
  for (const source of [
    'globalThis.planted',
    'process.env.PLANTED',
    '$constructor',
    '$string.constructor("return globalThis.planted")()',
    '(function($x){$x}).constructor("return process.env.PLANTED")()',
    '$map.constructor.constructor("return globalThis.planted")()',
    '$lookup($, "constructor")',
    '$lookup($lookup($, "constructor"), "constructor")("return globalThis.planted")()',
    'constructor.constructor("return globalThis.planted")()',
    '"".constructor.constructor("return globalThis.planted")()',
    '__proto__.constructor',
    '$lookup($, "__proto__").constructor("return 1")()',
    '$sift($string, function($v, $k){ true })',
    '$each($map, function($v, $k){ $k & $string($v) })',
    '$spread($eval)',
    '$string($$.constructor)',
    '$eval("globalThis.planted")',
    '$eval("$eval(\\"process.env.PLANTED\\")")',
    `$eval("import('fs')")`,
    `require("fs").readFileSync("${bait.file}")`,
    `$fetch("${bait.url}")`,
    `$eval("$fetch('${bait.url}')")`,
    '$toMillis.call',
    '$clone.implementation("return globalThis.planted")',
    '$lookup($string, "implementation")',
    '$string.implementation.constructor("return globalThis.planted")()',
    '$ ~> |$|{"__proto__": {"polluted": 1}}|',
    '{"__proto__": {"polluted": 1}}',
    '$merge([{"__proto__": {"polluted": 1}}, {"constructor": {"prototype": {"polluted": 1}}}])',
  ])
    await outcome(source)
  assert.equal(bait.visits, 0)
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
})

test('no bytes of a body are run, and none change what objects have', async (t) => {
  await plant(t)
  for (const body of [
    '{"a":"$eval(\\"globalThis.planted\\")","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    '{"_jsonata_lambda":true,"a":1,"implementation":"x","signature":"y","body":{"type":"path"}}',
    '{"_jsonata_function":true,"a":{"_jsonata_lambda":true,"arguments":[],"environment":{}}}',
    '{"sequence":true,"keepSingleton":true,"a":[[[[[[1]]]]]],"length":1e9}',
    '{"a":{"then":"x","toString":1,"valueOf":2,"toJSON":3}}',
  ])
    for (const source of [
      '$',
      '$string(a)',
      '$merge([$, {"b": 1}])',
      '$spread($)',
      '$map(a, $string)',
      '$eval("a")',
      'a()',
    ])
      await outcome(source, body)
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
})

test('no expression hangs, or eats memory', async () => {
  for (const source of [
    '($f := function(){ $f() }; $f())',
    '($f := function($n){ $f($n + 1) + 1 }; $f(0))',
    '[1..10000000]',
    '[1..9999].[1..9999]',
    '$map([1..9999], function($i){ [1..9999] })',
    '$reduce([1..9999], function($s, $i){ $s & $s }, "xxxx")',
    '$pad("x", 1000000000)',
    '$join([1..9999].$pad("x", 10000))',
    '$replace($pad("a", 9999), /(a+)+$/, "b")',
    '$match($pad("a", 9999), /((a*)*)*b/)',
    '$formatNumber(1, $pad("0", 9999))',
    '$power(10, 10000)',
    '$formatBase(1e308, 2)',
    '$sort([1..9999], function($a, $b){ $random() > 0.5 })',
    '$eval("[1..9999].[1..9999]")',
    '**.**.**.**',
  ])
    await outcome(source, { a: 1, b: [[1, 2], { c: [1] }] })
})

test('no body makes an expression hang, or eat memory', async () => {
  for (const body of [
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    `{"a":"${'a'.repeat(300_000)}!"}`,
    `[${Array.from({ length: 100_000 }, () => '{"a":1}').join()}]`,
    `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":${i}`).join()}}`,
  ])
    for (const source of ['$', '**', '$match(a, /(a+)+$/)', '$sort(a)', '$distinct($.a)', '$string($)'])
      await outcome(source, body)
})
