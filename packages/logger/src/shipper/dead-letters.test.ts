import assert from 'node:assert/strict'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sampleShipment } from '../target/testing/sample-shipment.js'
import { scratchDir } from '../testing.js'
import { DeadLetters } from './dead-letters.js'

const MIB = 1024 ** 2

test('what owners have left that ended early counts towards the bound of all dead letters', () => {
  const root = scratchDir()
  const dir = join(root, 'dead')
  mkdirSync(dir)
  for (let i = 0; i < 30; i++) {
    const path = join(dir, `owner${i}-0.ndjson`)
    writeFileSync(path, '')
    // Sparse, so that it costs nothing.
    truncateSync(path, 15 * MIB)
    utimesSync(path, i + 1, i + 1)
  }
  const refusal = { index: 0, status: 400, type: 'mapper_parsing_exception', reason: 'no' }
  const problems: string[] = []
  const letters = new DeadLetters(root, 'owner30', ({ problem }) => problems.push(problem ?? ''))
  letters.keep(sampleShipment(['{}']), [refusal])
  const files = readdirSync(dir)
  const bytes = files.reduce((sum, file) => sum + statSync(join(dir, file)).size, 0)
  assert.ok(bytes <= 257 * MIB, `${bytes} bytes`)
  assert.ok(files.includes('owner30-0.ndjson') && files.includes('owner29-0.ndjson'))
  assert.ok(!files.includes('owner0-0.ndjson'))
  assert.equal(problems.length, 31 - files.length)
  assert.match(problems[0]!, /reached 256 MB.*owner0-0\.ndjson, was removed/)
})

test('letters are whole whatever they hold, and kept although their folder was removed', () => {
  const root = scratchDir()
  const dir = join(root, 'dead')
  const letters = new DeadLetters(root, 'owner', () => {})
  const reason = 'no "field" [é\u{1f600}]\n'.repeat(30)
  const large = `{"text":"${'x'.repeat(300_000)}"}`
  const shipment = sampleShipment(['{"n":0}', large, '{"n":2}'])
  const refusals = [0, 1, 2].map((index) => ({ index, status: 400, type: 'a "type"', reason }))
  letters.keep(shipment, refusals)
  rmSync(dir, { recursive: true })
  letters.keep(shipment, refusals.slice(1))
  const lines = readdirSync(dir).flatMap((file) =>
    readFileSync(join(dir, file), 'utf8').trimEnd().split('\n'),
  )
  assert.deepEqual(
    lines.map((line) => {
      const { '@timestamp': at, ...letter } = JSON.parse(line)
      assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000)
      return letter
    }),
    [1, 2].map((index) => ({
      ...{ id: `k-${index}`, status: 400, type: 'a "type"', reason },
      record: JSON.parse(shipment.jsonOf(index).toString()),
    })),
  )
})
