import { type produceV8, protocolErrorsCodesById } from '@platformatic/kafka'
import type { Delivery, Refusal } from '../output.js'
import type { KafkaMessage } from './messages.js'

/** Errors that a record causes, not the broker or the configuration. */
const RECORD_ERRORS: ReadonlySet<string> = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
])
/** Errors of a broker that no longer leads the partition. */
const STALE_ERRORS: ReadonlySet<string> = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_OR_FOLLOWER',
  'FENCED_LEADER_EPOCH',
])
const OVERLOAD_ERRORS: ReadonlySet<string> = new Set(['REQUEST_TIMED_OUT', 'THROTTLING_QUOTA_EXCEEDED'])

/** Results of the requests of a delivery. */
export class Outcome {
  readonly #count: number
  readonly #refused: Refusal[] = []
  /** Records to send again because a request failed. */
  readonly #again: number[] = []
  /** Records of batches that were refused as a whole because of one record or their size. */
  readonly #unfit: number[] = []
  #reason = ''
  #isOverload = false
  /** True if the leaders of partitions may have changed. */
  isStale = false

  /** @param count Number of records of the delivery. */
  constructor(count: number) {
    this.#count = count
  }

  /** True if a request failed, so that later ones probably would, too. */
  get hasFailed(): boolean {
    return this.#again.length > 0
  }

  /** Notes messages without a result. */
  failed(messages: readonly KafkaMessage[], reason: string): void {
    for (const { index } of messages) this.#again.push(index)
    if (this.#reason === '') this.#reason = reason
  }

  /** Notes the response to a request. */
  answered(messages: readonly KafkaMessage[], { responses }: produceV8.ProduceResponse): void {
    const results = new Map(
      responses.flatMap((topic) => topic.partitionResponses).map((one) => [one.index, one]),
    )
    for (const [partition, batch] of groupBy(messages, (message) => message.partition)) {
      const result = results.get(partition)
      if (result === undefined) this.failed(batch, 'the broker returned no result')
      else if (result.errorCode !== 0) this.#notWritten(batch, result)
    }
  }

  /** Returns the result of the delivery. */
  delivery(): Delivery {
    const isNothingSettled =
      this.#refused.length === 0 && this.#again.length + this.#unfit.length === this.#count
    if (isNothingSettled && this.hasFailed)
      return { kind: 'failed', overload: this.#isOverload, reason: this.#reason }
    if (isNothingSettled) return { kind: 'unfit', status: 0, reason: this.#reason }
    return {
      kind: 'answered',
      refused: this.#refused,
      again: [...this.#again, ...this.#unfit].sort((a, b) => a - b),
    }
  }

  #notWritten(
    batch: readonly KafkaMessage[],
    { errorCode, recordErrors }: produceV8.ProduceResponsePartition,
  ): void {
    const error = protocolErrorsCodesById[errorCode] ?? `error ${errorCode}`
    const reason = `the broker responded with ${error}`
    if (STALE_ERRORS.has(error)) this.isStale = true
    if (OVERLOAD_ERRORS.has(error)) this.#isOverload = true
    if (!RECORD_ERRORS.has(error)) {
      this.failed(batch, reason)
      return
    }
    this.#reason = reason
    const named = new Set(batch.length === 1 ? [0] : recordErrors.map(({ batchIndex }) => batchIndex))
    for (const [i, { index, value }] of batch.entries()) {
      if (!named.has(i)) this.#unfit.push(index)
      else {
        const type = error.toLowerCase()
        this.#refused.push({
          index,
          status: errorCode,
          type,
          reason: `${reason} to a record of ${value.length} bytes`,
        })
      }
    }
  }
}

/** Groups items by a property, in their order. */
export function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
