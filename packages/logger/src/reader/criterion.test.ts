import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitsPattern, textPattern } from './criterion.js'

const fits = (pattern: string, text: string): boolean => fitsPattern(textPattern(pattern), text)

test('a star stands for any text, also none, and nothing else is special', () => {
  for (const [pattern, text] of [
    ['*', ''],
    ['a*', 'a'],
    ['*c', 'abc'],
    ['a*b*c', 'a-b-b-c'],
    ['a*a', 'aa'],
    ['**', 'x'],
    ['a?.[b]$', 'a?.[b]$'],
    ['\\d', '\\d'],
    ['100\\*', '100*'],
    ['c:\\\\*', 'c:\\temp'],
  ] as const)
    assert.ok(fits(pattern, text), `${pattern} ${text}`)
  for (const [pattern, text] of [
    ['', 'a'],
    ['a*', 'ba'],
    ['a*a', 'a'],
    ['*b*', 'ac'],
    ['ab*ba', 'aba'],
    ['a?', 'ab'],
    ['100\\*', '1000'],
  ] as const)
    assert.ok(!fits(pattern, text), `${pattern} ${text}`)
})

test('a pattern with many stars is not slow', () => {
  assert.ok(!fits(`${'a*'.repeat(500)}b`, 'a'.repeat(100_000)))
})
