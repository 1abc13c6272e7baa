import { type BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { arrivalOf, idOf, isFailed, nanoseconds, writeRequest } from './request-attributes.js'
import { ITEMS } from './resource-message.js'
import type { TracedRecord } from './traced-record.js'

/** Fields of LogRecord in opentelemetry/proto/logs/v1/logs.proto. */
const FIELD = {
  ...{ time: 1, severity: 2, severityText: 3, body: 5, attributes: 6, flags: 8, traceId: 9, spanId: 10 },
  ...{ observed: 11 },
} as const
/** Field `string_value` of AnyValue. */
const STRING_VALUE = 1

/** Severities of opentelemetry/proto/logs/v1/logs.proto. */
const INFO = [9, 'INFO'] as const
const WARN = [13, 'WARN'] as const
const ERROR = [17, 'ERROR'] as const

/**
 * Writes a log record whose body is the traffic record. Its time is the arrival of the request. Returns the number of log
 * records.
 */
export function writeLogRecord(w: BinaryWriter, record: TracedRecord, json: string): number {
  const [severity, text] = severityOf(record)
  const traceId = idOf(record.trace?.id, 16)
  const spanId = idOf(record.span?.id, 8)
  const time = arrivalOf(record)
  w.tag(ITEMS, WireType.LengthDelimited).fork()
  w.tag(FIELD.time, WireType.Bit64).fixed64(time)
  w.tag(FIELD.severity, WireType.Varint).int32(severity)
  w.tag(FIELD.severityText, WireType.LengthDelimited).string(text)
  w.tag(FIELD.body, WireType.LengthDelimited).fork()
  w.tag(STRING_VALUE, WireType.LengthDelimited).string(json)
  w.join()
  writeRequest(w, FIELD.attributes, record)
  if (record.trace?.sampled === true) w.tag(FIELD.flags, WireType.Bit32).fixed32(1)
  if (traceId !== null) w.tag(FIELD.traceId, WireType.LengthDelimited).bytes(traceId)
  if (spanId !== null) w.tag(FIELD.spanId, WireType.LengthDelimited).bytes(spanId)
  w.tag(FIELD.observed, WireType.Bit64).fixed64(time + nanoseconds(record.t?.total))
  w.join()
  return 1
}

/** Failures are errors. Other requests without success, and gap records, are warnings. */
function severityOf(record: TracedRecord): readonly [number, string] {
  if (isFailed(record)) return ERROR
  const isSuccess = record.result === 'success' && !(Number(record.res?.status) >= 400)
  return isSuccess ? INFO : WARN
}
