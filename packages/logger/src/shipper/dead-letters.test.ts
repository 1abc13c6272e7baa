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
import { sampleShipment } from '../outputs/testing/sample-shipment.js'
import { shipTo } from '../outputs/testing/shipping.js'
import { answering, webhookReceiver } from '../outputs/testing/webhook-receiver.js'
import type { LogChange } from '../queue/messages.js'
import { assertIdentity, scratchDir, until } from '../testing.js'
import { DeadLetters } from './dead-letters.js'

const MIB = 1024 ** 2

test('at the size limit, the oldest dead-letter files of any owner are deleted and counted', () => {
  const root = scratchDir()
  const dir = join(root, 'dead')
  mkdirSync(dir)
  for (let i = 0; i < 30; i++) leave(join(dir, `owner${i}-0.ndjson`), i + 1)
  const refusal = { index: 0, status: 400, type: 'mapper_parsing_exception', reason: 'no' }
  const changes: LogChange[] = []
  const letters = new DeadLetters(root, 'owner30', (change) => changes.push(change))
  letters.keep(sampleShipment(['{}']), [refusal])
  const files = readdirSync(dir)
  const bytes = files.reduce((sum, file) => sum + statSync(join(dir, file)).size, 0)
  assert.ok(bytes <= 257 * MIB, `${bytes} bytes`)
  assert.ok(files.includes('owner30-0.ndjson') && files.includes('owner29-0.ndjson'))
  assert.ok(!files.includes('owner0-0.ndjson'))
  assert.equal(changes.length, 31 - files.length)
  for (const { deadRemoved, dead, dropped } of changes)
    assert.deepEqual({ deadRemoved, dead, dropped }, { deadRemoved: 3, dead: undefined, dropped: undefined })
  assert.match(changes[0]!.problem!, /reached 256 MB.*owner0-0\.ndjson, was deleted with 3 records/)
})

test('deleted dead letters are counted separately from records', async (t) => {
  const receiver = await webhookReceiver(t, [answering(400)])
  const dir = scratchDir()
  mkdirSync(join(dir, 'dead'))
  for (let i = 0; i < 20; i++) leave(join(dir, 'dead', `owner${i}-0.ndjson`), i + 1)
  const request = { headers: {}, auth: null, format: 'ndjson', compress: false, signature: null } as const
  const { sink, log } = shipTo(
    t,
    {
      ...{ kind: 'webhook', url: receiver.url, timeoutMs: 20_000, ...request },
      tls: { caFile: null, insecure: false },
    },
    dir,
  )
  log(10)
  await until(() => sink.identity().dead === 10, 'they are dead')
  const { received, dropped, deadRemoved } = sink.identity()
  assert.deepEqual({ received, dropped, deadRemoved }, { received: 10, dropped: 0, deadRemoved: 9 })
  assertIdentity(sink.identity())
})

test('other files among the dead letters are neither counted nor deleted', () => {
  const root = scratchDir()
  const dir = join(root, 'dead')
  const folder = join(dir, 'looked-at-0.ndjson')
  mkdirSync(folder, { recursive: true })
  utimesSync(folder, 0, 0)
  for (let i = 0; i < 20; i++) leave(join(dir, `letters${i}.tar`), i + 1)
  for (let i = 0; i < 18; i++) leave(join(dir, `owner${i}-0.ndjson`), i + 1)
  const refusal = { index: 0, status: 400, type: 'mapper_parsing_exception', reason: 'no' }
  const removed: string[] = []
  const letters = new DeadLetters(root, 'owner30', ({ problem }) => removed.push(problem ?? ''))
  letters.keep(sampleShipment(['{}']), [refusal])
  assert.equal(removed.length, 1)
  assert.match(removed[0]!, /owner0-0\.ndjson/)
  assert.equal(readdirSync(dir).length, 1 + 20 + 17 + 1)
})

/** Creates a file of 15 MiB with three lines and a modification time in seconds since the epoch. */
function leave(path: string, modifiedSeconds: number): void {
  writeFileSync(path, '{}\n{}\n{}\n')
  // A sparse file uses no disk space.
  truncateSync(path, 15 * MIB)
  utimesSync(path, modifiedSeconds, modifiedSeconds)
}

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
