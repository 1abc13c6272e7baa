import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
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
