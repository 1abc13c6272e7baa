import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileLinearRegex } from '../engines/json/linear-regex.js'
import { compilePattern } from '../shared/text/pattern.js'
import { PatternSet } from '../shared/text/pattern-set.js'
import { outcomeOf } from './testing/bait.js'

// RE2 matches the author's patterns against the bytes of callers and upstreams. It cannot run code, read files or use
// the network, so only time and memory are at risk.

const REPLACED = (): string => 'x'

test('patterns that make others backtrack end at once, on any text', async () => {
  const texts = [
    'a'.repeat(200_000),
    `${'a'.repeat(100_000)}!`,
    `${'ab'.repeat(50_000)}\n`,
    '\u{10ffff}'.repeat(50_000),
  ]
  for (const source of [
    '(a+)+$',
    '((a*)*)*b',
    '(a|aa)+$',
    '(a|a?)+b',
    '(.*a){20}',
    '(?:a?){50}a{50}',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(x+x+)+y',
    '.*.*.*.*=.*',
    '(?i)(ſ|k|K)+$',
  ]) {
    const pattern = compilePattern(source, true)
    for (const text of texts) await outcomeOf(() => pattern.test(text))
  }
})

test('patterns that grow when they are compiled are refused, or small', async () => {
  for (const source of [
    'a{1000}{1000}',
    '((a{100}){100}){100}',
    '(?:a{999}b{999}){999}',
    'x{0,1000}'.repeat(200),
    '('.repeat(4000),
    `${'('.repeat(1500)}a${')*'.repeat(1500)}`,
    '[\\p{L}\\p{N}]{500}',
    `[${'\\x{10ffff}-'.repeat(300)}]`,
    `(${Array.from({ length: 800 }, (_, i) => `w${i}`).join('|')})`,
    'a'.repeat(5000),
  ])
    await outcomeOf(() => new PatternSet([compilePattern(source, true)]).match('a'.repeat(10_000)))
})

test('a pattern of many large classes is refused before it takes memory', () => {
  assert.throws(() => compileLinearRegex('\\p{L}'.repeat(800)), /too many characters/)
  assert.throws(() => compileLinearRegex('[\\p{L}\\p{N}]'.repeat(340)), /too many characters/)
  assert.ok(compileLinearRegex('^[\\p{L}\\p{N} .-]+(\\p{Lu}\\p{Ll}*){1,20}$').test('ÄäÖ'))
})

test('what a linear engine cannot do is refused with a reason', () => {
  for (const source of ['(a)\\1', '(?=a)b', '(?!a)b', '(?<=a)b', '(?<!a)b', '(?>a)', 'a++', '(?R)'])
    assert.throws(() => compilePattern(source, false), /cannot be matched in linear time/, source)
})

test('replacing is bounded in matches and in time', async () => {
  for (const source of ['', 'a', 'a*', '(a|b)*?', '\\b'])
    await outcomeOf(() => compilePattern(source, false).replaced('ab'.repeat(200_000), REPLACED)?.length)
})

test('no text is too strange to be matched', async () => {
  const pattern = compilePattern('\\w+@\\w+', true)
  for (const text of ['\ud800', '\udc00\ud800'.repeat(1000), '\0'.repeat(100_000), '\u202e@a', ''])
    await outcomeOf(() => pattern.test(text))
})
