import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BodyLanguage, Exchange } from '@sluice/core'
import { checkCondition, compileCondition } from './index.js'

/** Knows one path, and reports the prefixes it was given. */
/** What the first byte of a body answers. */
const STREAMED = new Map<number | undefined, string | null>([
  [0x31, 'one'],
  [0x3f, null],
])
const language: BodyLanguage = {
  isLoaded: true,
  load: async () => {},
  compile(path, names) {
    if (path === 'bad') throw new Error('the path ends too early')
    return ({ body }) =>
      path === 'names' ? JSON.stringify(names) : (JSON.parse(Buffer.from(body!).toString()) as number)
  },
  compileStreaming: (path) => (path === 'begin' ? ({ body }) => STREAMED.get(body![0]) : null),
}
const bodies = { json: language, xml: language }

function ask(text: string, body: unknown): boolean {
  const x = Object.assign(new Exchange(), { body: Buffer.from(JSON.stringify(body)) })
  return compileCondition(text, 'route', { bodies }).test(x)
}

test('a value of a body is compared by its own type, and never with one of another', () => {
  assert.equal(ask('req.body.json("$") == "a"', 'a'), true)
  assert.equal(ask('req.body.json("$") == 5', 5), true)
  assert.equal(ask('req.body.json("$") >= 5', 6), true)
  assert.equal(ask('req.body.json("$") == true', true), true)
  assert.equal(ask('req.body.json("$") == null', null), true)
  assert.equal(ask('req.body.json("$") >= 5', 'abc'), false)
  assert.equal(ask('req.body.json("$") <= 5', 'abc'), false)
  assert.equal(ask('double(req.body.xml("//a")) > 1.5', '2'), true)
  assert.equal(ask('req.body.json("$").startsWith("a")', 7), false)
})

test('prefixes reach the language, and a condition knows that it needs the body', () => {
  assert.equal(ask('req.body.xml("names", {"m": "urn:x"}) == "{\\"m\\":\\"urn:x\\"}"', null), true)
  assert.equal(compileCondition('req.body.json("$") == 1', 'route', { bodies }).needs.body, true)
  assert.equal(compileCondition('req.path == "/"', 'route', { bodies }).needs.body, false)
})

test('a path is checked where its language is there, and only there', () => {
  const text = 'req.body.json("bad") == 1'
  assert.equal(checkCondition(text, 'route').ok, true)
  const check = checkCondition(text, 'route', { bodies })
  assert.ok(!check.ok)
  assert.match(check.message, /the path 'bad' of json\(\): the path ends too early/)
  assert.throws(() => compileCondition(text, 'route'), /request bodies cannot be read here/)
  const asleep = { ...language, isLoaded: false }
  assert.throws(
    () => compileCondition(text, 'route', { bodies: { json: asleep, xml: asleep } }),
    /is not loaded/,
  )
})

test('a route is chosen by the beginning where that is enough; what decides about a body has read it', () => {
  const x = (text: string) => Object.assign(new Exchange(), { body: Buffer.from(text) })
  const route = compileCondition('req.body.json("begin") == "one"', 'route', { bodies })
  assert.equal(route.test(x('1 and what is no JSON')), true)
  assert.equal(route.test(x('"one"')), true)
  assert.equal(route.test(x('? and what is no JSON')), false)
  assert.equal(route.test(x('2')), false)
  const policy = compileCondition('req.body.json("begin") == "one"', 'policy', { bodies })
  assert.equal(policy.test(x('1')), false)
  assert.throws(() => policy.test(x('1 and what is no JSON')), SyntaxError)
})
