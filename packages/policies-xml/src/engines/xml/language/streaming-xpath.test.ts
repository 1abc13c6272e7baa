import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exchange } from '@sluice/policies/testing'
import { compileStreamingXPath } from './streaming-xpath.js'

/** Returns how many of the paths `//e0`, `//e1`, … are answered by streaming, in turn. */
function answers(body: string, first = 0): number {
  const x = exchange({ body: Buffer.from(body) })
  let count = 0
  for (let i = first; i < 100; i++) if (compileStreamingXPath(`//e${i}`, {})!(x) === `${i}`) count++
  return count
}

const ELEMENTS = Array.from({ length: 100 }, (_, i) => `<e${i}>${i}</e${i}>`).join('')

test('many routes stream a body if their matches are near its beginning', () => {
  assert.equal(answers(`<a>${ELEMENTS}`), 100)
})

test('a body is not read again and again for many routes', () => {
  const count = answers(`<a>${' '.repeat(25_000)}${ELEMENTS}`)
  assert.ok(count > 0 && count <= 3, `${count} were answered`)
})

test('after parsing, streaming is not used any more', () => {
  const x = exchange({ body: Buffer.from('<a><b>1</b></a>') })
  assert.equal(compileStreamingXPath('//b', {})!(x), '1')
  assert.equal(compileStreamingXPath('//c', {})!(x), undefined)
  assert.equal(compileStreamingXPath('//a', {})!(x), undefined)
  assert.equal(compileStreamingXPath('//b', {})!(x), '1')
})
