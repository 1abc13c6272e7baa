import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonText } from './json-text.js'
import { KnownTexts } from './known-texts.js'

test('a text is the same JSON the first time, later, and after the memory began anew', () => {
  const known = new KnownTexts()
  const texts = Array.from({ length: 40_000 }, (_, i) => `"${i}" ü`)
  for (const text of [...texts, ...texts]) assert.equal(known.json(text), jsonText(text))
  assert.equal(known.json(''), '')
})
