import type { MessageRecord } from '@platformatic/kafka'
import type { Shipment } from '../output.js'
import { readRecord } from '../record-parts.js'
import type { KafkaOptions } from './options.js'

/** A message, with the index of its record in the shipment. */
export interface KafkaMessage extends MessageRecord {
  readonly index: number
  readonly partition: number
}

/** Maximum overhead of a message in bytes: lengths, timestamp and offset. */
const OVERHEAD_BYTES = 32
/** Size of the head of a batch in bytes, rounded up. */
const HEAD_BYTES = 64
const MURMUR_SEED = 0x9747b28c
const MURMUR_FACTOR = 0x5bd1e995

/** Returns a shipment as rounds of messages. A round fits into a request, or is a single message. */
export function roundsOf(shipment: Shipment, options: KafkaOptions, partitions: number): KafkaMessage[][] {
  const rounds: KafkaMessage[][] = []
  const keyless = Math.floor(Math.random() * partitions)
  let bytes = Number.POSITIVE_INFINITY
  for (let index = 0; index < shipment.count; index++) {
    const value = shipment.jsonOf(index)
    const key = keyOf(value, options.key)
    const size = value.length + (key?.length ?? 0) + OVERHEAD_BYTES
    if (bytes + size > options.maxBatchBytes) {
      rounds.push([])
      bytes = HEAD_BYTES
    }
    bytes += size
    const partition = key === null ? keyless : (murmur2(key) & 0x7fffffff) % partitions
    rounds.at(-1)!.push({ index, topic: options.topic, partition, value, ...(key === null ? {} : { key }) })
  }
  return rounds
}

/** Returns the key of a record, or null if it has none. */
function keyOf(json: Buffer, key: KafkaOptions['key']): Buffer | null {
  if (key === 'none') return null
  const { id, route, client } = readRecord(json.toString('latin1'))
  const value = key === 'request-id' ? id : key === 'route' ? route : client?.ip
  return typeof value === 'string' && value !== '' ? Buffer.from(value) : null
}

/** Hash by which all Kafka clients choose the partition of a key. The library's own is 20 times slower. */
export function murmur2(bytes: Buffer): number {
  let hash = MURMUR_SEED ^ bytes.length
  let at = 0
  for (; at + 4 <= bytes.length; at += 4) {
    let word = Math.imul(bytes.readInt32LE(at), MURMUR_FACTOR)
    word = Math.imul(word ^ (word >>> 24), MURMUR_FACTOR)
    hash = Math.imul(hash, MURMUR_FACTOR) ^ word
  }
  if (at < bytes.length) hash = Math.imul(hash ^ bytes.readUIntLE(at, bytes.length - at), MURMUR_FACTOR)
  hash = Math.imul(hash ^ (hash >>> 13), MURMUR_FACTOR)
  return hash ^ (hash >>> 15)
}
