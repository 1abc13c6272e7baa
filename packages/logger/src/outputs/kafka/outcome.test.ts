import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { produceV8 } from '@platformatic/kafka'
import type { Delivery } from '../output.js'
import type { KafkaMessage } from './messages.js'
import { Outcome } from './outcome.js'

/** Results of the partitions of a topic: the error, and the indexes of records with their own error. */
type Results = Readonly<Record<number, { readonly error: number; readonly records?: readonly number[] }>>

/** Returns the delivery of messages to these partitions, in their order. */
function deliveryOf(partitions: readonly number[], results: Results): Delivery {
  const messages: KafkaMessage[] = partitions.map((partition, index) => ({
    ...{ index, partition, topic: 't', value: Buffer.from('{}') },
  }))
  const partitionResponses = Object.entries(results).map(([index, { error, records = [] }]) => ({
    ...{ index: Number(index), errorCode: error, baseOffset: 0n, logAppendTimeMs: -1n, logStartOffset: 0n },
    ...{
      errorMessage: null,
      recordErrors: records.map((i) => ({ batchIndex: i, batchIndexErrorMessage: null })),
    },
  }))
  const outcome = new Outcome(messages.length)
  const response: produceV8.ProduceResponse = {
    responses: [{ name: 't', partitionResponses }],
    throttleTimeMs: 0,
  }
  outcome.answered(messages, response)
  return outcome.delivery()
}

const settled = (delivery: Delivery): unknown =>
  delivery.kind === 'answered' ? [delivery.refused.map(({ index }) => index), delivery.again] : delivery.kind

const [OK, TOO_LARGE, TIMED_OUT, INVALID] = [0, 10, 7, 87]

test('each record is delivered, refused or sent again, by the result of its partition', () => {
  for (const [partitions, results, expected] of [
    [[0, 0], { 0: { error: OK } }, [[], []]],
    [[0, 1, 0], { 0: { error: OK }, 1: { error: TIMED_OUT } }, [[], [1]]],
    [[0, 1, 0], { 0: { error: OK } }, [[], [1]]],
    [[0, 1, 0], { 0: { error: OK }, 1: { error: TOO_LARGE } }, [[1], []]],
    [[0, 1, 1], { 0: { error: OK }, 1: { error: TOO_LARGE } }, [[], [1, 2]]],
    [[0, 0, 0], { 0: { error: INVALID, records: [1] } }, [[1], [0, 2]]],
    [[0, 0, 0], { 0: { error: TOO_LARGE } }, 'unfit'],
    [[0, 0, 1], { 0: { error: TOO_LARGE }, 1: { error: TIMED_OUT } }, 'failed'],
    [[0], { 0: { error: TOO_LARGE } }, [[0], []]],
  ] satisfies [number[], Results, unknown][]) {
    assert.deepEqual(
      settled(deliveryOf(partitions, results)),
      expected,
      JSON.stringify([partitions, results]),
    )
  }
})

test('an error of the cluster is reported by its name', () => {
  for (const [error, name, overload] of [
    [7, 'REQUEST_TIMED_OUT', true],
    [29, 'TOPIC_AUTHORIZATION_FAILED', false],
    [9999, 'error 9999', false],
  ] as const) {
    const reason = `the broker responded with ${name}`
    assert.deepEqual(deliveryOf([0], { 0: { error } }), { kind: 'failed', overload, reason })
  }
})
