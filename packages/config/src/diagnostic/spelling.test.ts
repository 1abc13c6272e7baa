import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closestWord, suggestion } from './spelling.js'

const KEYS = ['listeners', 'upstreams', 'routes', 'log', 'health', 'headers']

test('a word with one wrong, missing, doubled or swapped letter is recognised', () => {
  for (const word of ['rputes', 'rotes', 'rroutes', 'ruotes', 'Routes'])
    assert.equal(closestWord(word, KEYS), 'routes')
})

test('a long word may be two edits away, a short one only one', () => {
  assert.equal(closestWord('lisstener', KEYS), 'listeners')
  assert.equal(closestWord('lgs', KEYS), null)
  assert.equal(closestWord('lg', KEYS), 'log')
})

test('the closest word wins', () => {
  assert.equal(closestWord('headers', ['header', 'headers']), 'headers')
})

test('without a close word the fallback is the suggestion', () => {
  assert.equal(suggestion('zebra', KEYS, 'remove it'), 'remove it')
  assert.equal(suggestion('route', KEYS, 'remove it'), "did you mean 'routes'?")
})

test('very long words are not compared', () => {
  assert.equal(closestWord('r'.repeat(100_000), KEYS), null)
})
