import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Exchange } from '@sluice/core'
import { cpuMs } from '@sluice/core/testing'
import { ConditionError } from './condition-error.js'
import { checkCondition, compileCondition } from './index.js'

// Conditions (CEL) are the author's; they are asked over the heads and bodies of callers.

const PLANTED = 'zq7-planted-secret'
const LONGEST_MS = 5_000

function within<T>(work: () => T): T {
  const beforeMs = cpuMs()
  const result = work()
  assert.ok(cpuMs() - beforeMs < LONGEST_MS)
  return result
}

test('no condition runs code, or reads a global, the environment or what objects inherit', (t) => {
  const global = globalThis as unknown as Record<string, unknown>
  global['planted'] = PLANTED
  process.env['PLANTED'] = PLANTED
  t.after(() => {
    delete global['planted']
    delete process.env['PLANTED']
  })
  for (const text of [
    `globalThis.planted == "${PLANTED}"`,
    `planted == "${PLANTED}"`,
    `process.env.PLANTED == "${PLANTED}"`,
    'req.constructor.constructor("return 1")() == 1',
    'req.path.constructor == "x"',
    'req.__proto__ == null',
    'req.header.__proto__.polluted == "1"',
    'vars.__proto__ == "x"',
    '"".constructor == "x"',
    'eval("1") == 1',
    'import("fs") == 1',
    'require("fs").readFileSync("/etc/passwd") == ""',
    'fetch("http://127.0.0.1/") == 1',
    '(() => 1)() == 1',
    '`${1}` == "1"',
    'req.path = "x"',
    'true; true',
  ])
    assert.equal(within(() => checkCondition(text, 'route')).ok, false, text)
})

test('names that objects inherit are names like others', () => {
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    const x = new Exchange()
    x.headers = ['a', 'b']
    assert.equal(compileCondition(`req.header["${name.toLowerCase()}"] == "x"`, 'route').test(x), false, name)
    assert.equal(compileCondition(`req.query["${name}"] == "x"`, 'route').test(x), false, name)
    assert.equal(compileCondition(`vars["${name}"] == "x"`, 'policy').test(x), false, name)
  }
})

test('no text is too long or too deep to be refused in time', () => {
  for (const text of [
    `${'('.repeat(100_000)}true${')'.repeat(100_000)}`,
    '!'.repeat(100_000),
    `true${' && true'.repeat(50_000)}`,
    `req.path in [${'"a",'.repeat(100_000)}"b"]`,
    `${'['.repeat(50_000)}`,
    `"${'\\u0041'.repeat(100_000)}" == "a"`,
    `${'a.'.repeat(100_000)}b == "c"`,
    `${'1+'.repeat(100_000)}1 == 1`,
    '\0'.repeat(10_000),
    '"',
  ])
    within(() => checkCondition(text, 'route'))
})

const SLOW_ELSEWHERE = [
  '^(a+)+$',
  '(a*)*b',
  '(a|a)*b',
  'a*a*a*a*b',
  '^([a-z]+)*$',
  '((a+)b?)+$',
  '(.?a.{20})*c',
]

for (const pattern of SLOW_ELSEWHERE) {
  test(`matches(${JSON.stringify(pattern)}) takes no longer for what a caller sends to it`, () => {
    const condition = compileCondition(`req.header["h"].matches("${pattern}")`, 'route')
    const x = new Exchange()
    x.headers = ['h', `${'a'.repeat(60_000)}!`]
    within(() => assert.equal(condition.test(x), false))
  })
}

test('a pattern that RE2 cannot match, or only slowly, is refused', () => {
  for (const pattern of ['(a)\\\\1', '(?=a)b', 'a{0,1000}'.repeat(3), '(', 'a'.repeat(1001)]) {
    assert.equal(checkCondition(`req.header["h"].matches("${pattern}")`, 'route').ok, false, pattern)
  }
})

test('a text that is too long for matches() is an error, not a text that does not match', () => {
  const condition = compileCondition('!req.header["h"].matches("evil")', 'policy')
  const x = new Exchange()
  x.headers = ['h', `${'a'.repeat(70_000)}evil`]
  assert.throws(() => condition.test(x), ConditionError)
})
