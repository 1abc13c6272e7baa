import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Delivery } from '../output.js'
import { bulkDelivery, isBulkText } from './bulk-answer.js'

const COUNT = 1000

/** Text in a response that must not be mistaken for its structure. */
const REASON = 'a },{"create":{"status":201}} \\" ]} é'
const refusal = (status: number, error?: object): object => ({ create: { status, error } })
const ERROR = { type: 'bad', reason: REASON, caused_by: { reason: 'cause' } }

function answerOf(items: readonly object[]): string {
  const text = JSON.stringify({ items })
  assert.ok(isBulkText(text), `${text.length} characters`)
  return text
}

const written = (): object[] => Array.from({ length: COUNT }, () => refusal(201))

test('a response tells which records are written, refused or must be retried', () => {
  const items = written()
  items[1] = refusal(409, { type: 'version_conflict_engine_exception' })
  items[2] = { create: { error: ERROR, status: 400 } }
  items[3] = { create: { status: '201' } }
  items[5] = { create: { status: 2010 } }
  items[6] = refusal(404)
  items[7] = refusal(429, ERROR)
  items[COUNT - 1] = refusal(503, ERROR)
  const expected: Delivery = {
    kind: 'answered',
    refused: [
      { index: 2, status: 400, type: 'bad', reason: `${REASON}: cause` },
      { index: 6, status: 404, type: 'unknown', reason: '', isTemporary: true },
    ],
    again: [3, 5, 7, COUNT - 1],
  }
  const text = answerOf(items)
  for (const answer of [text, JSON.parse(text), text.replaceAll('},{"create"', '},\n{"create"')])
    assert.deepEqual(bulkDelivery(answer, COUNT), expected)
})

test('a response for only written records is recognized, for any number of records', () => {
  const all: Delivery = { kind: 'answered', refused: [], again: [] }
  for (const count of [1, 2, 999, 5000, 3]) {
    const text = answerOf(Array.from({ length: count }, () => refusal(201)))
    assert.deepEqual(bulkDelivery(text, count), all)
    for (const other of [0, count - 1, count + 1]) assert.notDeepEqual(bulkDelivery(text, other), all)
    for (const at of [0, 12, text.length - 30, text.length - 1])
      assert.notDeepEqual(bulkDelivery(`${text.slice(0, at)}x${text.slice(at + 1)}`, count), all, `${at}`)
  }
})

test('an incomplete or invalid text response has no results', () => {
  const text = answerOf(written())
  const cut = text.indexOf('{"create"', 9000)
  const unclosed = (status: number): string =>
    `${text.slice(0, cut)}{"create":{"status":${status},${text.slice(cut + '{"create":{"status":201}},'.length)}`
  const cases: readonly (readonly [answer: string, count: number, reason: RegExp])[] = [
    [text, COUNT - 1, /has 1000 items for 999 records/],
    [text.replace('{"create":{"status":201}},', ''), COUNT, /has 999 items for 1000 records/],
    [`${text.slice(0, 9000)}{"cre${text.slice(9000)}`, COUNT, /cannot be parsed/],
    [text.replace(/\]\}$/, ',]}'), COUNT, /cannot be parsed/],
    [unclosed(201), COUNT, /cannot be parsed/],
    [unclosed(409), COUNT, /cannot be parsed/],
    [`<html>${text}`, COUNT, /cannot be parsed/],
    ['XXXXXXXXXX{"create":{"status":201,<cut', 1, /cannot be parsed/],
  ]
  for (const [answer, count, reason] of cases) {
    const delivery = bulkDelivery(answer, count)
    assert.equal(delivery.kind, 'failed')
    assert.match((delivery as { reason: string }).reason, reason)
  }
})
