import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Delivery, Refusal } from '../output.js'
import { sampleShipment } from '../testing/sample-shipment.js'
import { isBulkText, saysAllWritten } from './answer-text.js'
import { bulkDelivery } from './bulk-answer.js'
import { bulkBody } from './bulk-body.js'

const COUNT = 1000
const yieldCpu = (): Promise<void> => Promise.resolve()

function countedYield(): { yieldCpu(): Promise<void>; count: number } {
  const counted = {
    count: 0,
    yieldCpu: (): Promise<void> => {
      counted.count++
      return Promise.resolve()
    },
  }
  return counted
}

test('a body is the same whether or not there is room for it, and is made in stretches', async () => {
  const records = Array.from({ length: COUNT }, (_, n) => JSON.stringify({ n, text: 'x'.repeat(n % 50) }))
  const shipment = sampleShipment(records)
  const expected = records
    .map((record, i) => `{"create":{"_id":"${shipment.idOf(i)}"}}\n${record}\n`)
    .join('')
  const counted = countedYield()
  for (const room of [Buffer.alloc(1024 ** 2), Buffer.alloc(0)]) {
    assert.equal((await bulkBody(shipment, room, counted.yieldCpu)).toString('latin1'), expected)
  }
  assert.equal(counted.count, 6)
})

/** What may stand in a text of an answer and must not be taken for its structure. */
const REASON = 'a },{"create":{"status":201}} \\" ]} é'
const refusal = (status: number, error?: object): object => ({ create: { status, error } })
const ERROR = { type: 'bad', reason: REASON, caused_by: { reason: 'cause' } }

function answerOf(items: readonly object[]): string {
  const text = JSON.stringify({ items })
  assert.ok(isBulkText(text), `${text.length} characters`)
  return text
}

const written = (): object[] => Array.from({ length: COUNT }, () => refusal(201))

function refusedOf(delivery: Delivery, from = 0, to?: number): readonly Refusal[] {
  assert.equal(delivery.kind, 'answered', JSON.stringify(delivery))
  const { refused } = delivery as Extract<Delivery, { kind: 'answered' }>
  return refused.slice(from, to).map(({ index, status, type, reason }) => ({ index, status, type, reason }))
}

test('an answer as text says of each record what it would say as a whole', async () => {
  const items = written()
  for (let n = 0; n < COUNT; n += 7) items[n] = refusal(n % 2 === 0 ? 400 : 429, ERROR)
  items[1] = refusal(409, { type: 'version_conflict_engine_exception' })
  items[2] = { create: { error: ERROR, status: 400 } }
  items[3] = { create: { status: '201' } }
  items[5] = { create: { status: 2010 } }
  items[6] = refusal(404)
  items[COUNT - 1] = refusal(503, ERROR)
  const counted = countedYield()
  const inPieces = await bulkDelivery(answerOf(items), COUNT, counted.yieldCpu)
  assert.ok(counted.count >= 2, `${counted.count} yields`)
  const whole = await bulkDelivery(JSON.parse(JSON.stringify({ items })), COUNT, yieldCpu)
  assert.deepEqual(refusedOf(inPieces), refusedOf(whole))
  assert.deepEqual({ ...inPieces, refused: null }, { ...whole, refused: null })
  assert.equal(refusedOf(inPieces)[0]!.reason, `${REASON}: cause`)
})

test('a refusal can be asked for alone, also one that cannot be read', async () => {
  const items = written()
  items[10] = refusal(400, ERROR)
  items[20] = refusal(400, { type: 'worse' })
  const text = answerOf(items).replace('"worse"', 'worse')
  const delivery = await bulkDelivery(text, COUNT, yieldCpu)
  assert.equal(refusedOf(delivery).length, 2)
  assert.deepEqual(refusedOf(delivery, 0, 1), [
    { index: 10, status: 400, type: 'bad', reason: `${REASON}: cause` },
  ])
  assert.deepEqual(refusedOf(delivery, 1, 9), [
    { index: 20, status: 400, type: 'unknown', reason: 'the answer cannot be read at this position' },
  ])
})

test('an answer that all were written is recognised as a whole, and nothing else is', async () => {
  for (const count of [1, 2, 999, 5000, 3]) {
    const text = answerOf(Array.from({ length: count }, () => refusal(201)))
    assert.ok(saysAllWritten(text, count), `${count}`)
    for (const other of [0, count - 1, count + 1]) assert.ok(!saysAllWritten(text, other))
    for (const at of [0, 12, 33, text.length - 30, text.length - 1])
      assert.ok(!saysAllWritten(`${text.slice(0, at)}9${text.slice(at + 1)}`, count), `${at}`)
    assert.ok(!saysAllWritten(text.replace(/201(?=\}\}\]\}$)/, '409'), count))
    const counted = countedYield()
    const delivery = await bulkDelivery(text, count, counted.yieldCpu)
    assert.deepEqual([delivery, counted.count], [{ kind: 'answered', refused: [], again: [] }, 0])
  }
})

test('an answer as text that is not about all records, or no JSON, says nothing about any', async () => {
  const text = answerOf(written())
  const cut = text.indexOf('{"create"', 9000)
  const unclosed = (status: number): string =>
    `${text.slice(0, cut)}{"create":{"status":${status},${text.slice(cut + '{"create":{"status":201}},'.length)}`
  const cases: readonly (readonly [answer: string, count: number, reason: RegExp])[] = [
    [text, COUNT - 1, /has 1000 items for 999 records/],
    [text.replace('{"create":{"status":201}},', ''), COUNT, /has 999 items for 1000 records/],
    [`${text.slice(0, 9000)}{"cre${text.slice(9000)}`, COUNT, /cannot be read/],
    [text.replace(/\]\}$/, ',]}'), COUNT, /cannot be read/],
    [unclosed(201), COUNT, /cannot be read/],
    [unclosed(409), COUNT, /cannot be read/],
    [`<html>${text}`, COUNT, /cannot be read/],
    ['XXXXXXXXXX{"create":{"status":201,<cut', 1, /cannot be read/],
  ]
  for (const [answer, count, reason] of cases) {
    const delivery = await bulkDelivery(answer, count, yieldCpu)
    assert.equal(delivery.kind, 'failed')
    assert.match((delivery as { reason: string }).reason, reason)
  }
})

test('an answer that another program has written with spaces is read as a whole', async () => {
  const items = written()
  items[7] = refusal(400, ERROR)
  const text = answerOf(items).replaceAll('},{"create"', '},\n{"create"')
  assert.deepEqual(refusedOf(await bulkDelivery(text, COUNT, yieldCpu)), [
    { index: 7, status: 400, type: 'bad', reason: `${REASON}: cause` },
  ])
})
