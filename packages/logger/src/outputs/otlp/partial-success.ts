import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import type { Answer } from '../http/answer.js'

/** Part of a request that a collector rejected although it responded with success, or a warning if `rejected` is 0. */
export interface PartialSuccess {
  /** Number of spans, log records or data points. */
  readonly rejected: number
  readonly message: string
}

/** Fields of the responses in opentelemetry/proto/collector, which are the same for all signals. */
const FIELD = { partialSuccess: 1, rejected: 1, message: 2 } as const

/** Reads `partial_success` of a response. Returns null if everything was accepted. */
export function readPartialSuccess({ body, contentType }: Pick<Answer, 'body' | 'contentType'>) {
  const partial = contentType?.startsWith('application/json') ? partOfJson(body) : partOfMessage(body)
  return partial.rejected === 0 && partial.message === '' ? null : partial
}

/** Fields that were read before a flaw count: the message may be cut off. */
function partOfMessage(body: Buffer): PartialSuccess {
  const partial = { rejected: 0, message: '' }
  const reader = new BinaryReader(body)
  try {
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag()
      if (field !== FIELD.partialSuccess || type !== WireType.LengthDelimited) reader.skip(type)
      else readPart(reader, reader.uint32(), partial)
    }
  } catch {}
  return partial
}

function readPart(
  reader: BinaryReader,
  length: number,
  partial: { rejected: number; message: string },
): void {
  const end = reader.pos + length
  while (reader.pos < end) {
    const [field, type] = reader.tag()
    if (field === FIELD.rejected && type === WireType.Varint) partial.rejected = countOf(reader.int64())
    else if (field === FIELD.message && type === WireType.LengthDelimited) partial.message = reader.string()
    else reader.skip(type)
  }
}

function partOfJson(body: Buffer): PartialSuccess {
  try {
    const { partialSuccess = {} } = JSON.parse(body.toString())
    const { rejectedSpans, rejectedLogRecords, rejectedDataPoints, errorMessage = '' } = partialSuccess
    const rejected = countOf(rejectedSpans ?? rejectedLogRecords ?? rejectedDataPoints)
    return { rejected, message: String(errorMessage) }
  } catch {
    return { rejected: 0, message: '' }
  }
}

function countOf(value: unknown): number {
  return Math.max(0, Number(value) || 0)
}
