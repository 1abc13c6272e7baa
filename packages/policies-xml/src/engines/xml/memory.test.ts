import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { UnreadableBody } from '@sluice/core'
import { exchange } from '@sluice/policies/testing'
import { parseXml } from './gate.js'
import { loadLibxml } from './libxml.js'
import { openXmlBytes, releaseMemory, reserveMemory } from './memory.js'
import { xmlOf } from './xml-of.js'

before(() => loadLibxml())

test('documents are refused while others use all memory, and accepted again afterwards', () => {
  const taken = reserveMemory(127 << 20, 0)
  try {
    assert.throws(
      () => parseXml(Buffer.from(`<a>${'x'.repeat(2 << 20)}</a>`)),
      (problem) => problem instanceof UnreadableBody && problem.code === 'GW_OVERLOADED',
    )
    assert.equal(openXmlBytes(), taken)
    parseXml(Buffer.from('<a/>')).close()
  } finally {
    releaseMemory(taken)
  }
  parseXml(Buffer.from(`<a>${'x'.repeat(2 << 20)}</a>`)).close()
  assert.equal(openXmlBytes(), 0)
})

test('a closed document gives its memory back once and cannot be read', () => {
  const x = exchange()
  const view = xmlOf(x, Buffer.from('<a/>'))
  x.views?.close()
  view.close()
  assert.equal(openXmlBytes(), 0)
  assert.throws(() => view.document, /the document is closed/)
})

test('ten thousand documents leave memory as it was', () => {
  const body = Buffer.from(`<a>${'<b c="1">text</b>'.repeat(200)}</a>`)
  const run = (times: number): void => {
    for (let i = 0; i < times; i++) parseXml(body).close()
  }
  run(1000)
  const rss = process.memoryUsage().rss
  run(10_000)
  assert.ok(process.memoryUsage().rss - rss < 40 << 20)
})
