import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { writeText } from './attributes.js'
import type { Attributes } from './resource.js'
import { ITEMS, messageOf, writeResource } from './resource-message.js'

/** A metric to export. */
export interface OtlpMetric {
  readonly name: string
  readonly description: string
  /** Unit in UCUM notation, or empty. */
  readonly unit: string
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly points: readonly OtlpPoint[]
}

/** Value of one series. */
export interface OtlpPoint {
  readonly attributes: readonly (readonly [name: string, value: string])[]
  /** Value of a counter or gauge, or sum of a histogram. */
  readonly value: number
  readonly buckets?: OtlpBuckets
}

/** Buckets of a histogram. */
export interface OtlpBuckets {
  /** Upper bounds, ascending. The last bucket has none. */
  readonly bounds: readonly number[]
  /** Number of values in each bucket, not cumulative. */
  readonly counts: readonly number[]
  readonly exemplars: readonly OtlpExemplar[]
}

/** A value with its trace. */
interface OtlpExemplar {
  readonly traceId: string
  readonly value: number
  /** Seconds since 1970. */
  readonly atS: number
}

/** Period that the values of counters and histograms cover, in milliseconds since 1970. */
export interface OtlpPeriod {
  readonly startMs: number
  readonly endMs: number
}

/** Fields of the messages in opentelemetry/proto/metrics/v1/metrics.proto. */
const METRIC = { name: 1, description: 2, unit: 3, gauge: 5, counter: 7, histogram: 9 } as const
const POINTS = 1
const TEMPORALITY = 2
const CUMULATIVE = 2
const IS_MONOTONIC = 3
const NUMBER = { start: 2, time: 3, value: 4, attributes: 7 } as const
const HISTOGRAM = {
  ...{ start: 2, time: 3, count: 4, sum: 5, counts: 6, bounds: 7, exemplars: 8, attributes: 9 },
} as const
const EXEMPLAR = { time: 2, value: 3, traceId: 5 } as const

/** Maximum number of points per request, about 2 MB. Collectors limit the size of requests. */
const MAX_POINTS = 5000

/** Builds export requests with all points, one at a time. */
export function* metricRequests(
  metrics: readonly OtlpMetric[],
  resource: Attributes,
  period: OtlpPeriod,
): Generator<Buffer> {
  let items = new BinaryWriter()
  let left = MAX_POINTS
  const request = (): Buffer => {
    const w = new BinaryWriter()
    writeResource(w, resource, items)
    items = new BinaryWriter()
    left = MAX_POINTS
    return messageOf(w)
  }
  for (const metric of metrics) {
    for (let from = 0; from < metric.points.length; ) {
      const points = metric.points.slice(from, from + left)
      writeMetric(items, { ...metric, points }, period)
      from += points.length
      left -= points.length
      if (left === 0) yield request()
    }
  }
  if (left < MAX_POINTS) yield request()
}

function writeMetric(w: BinaryWriter, metric: OtlpMetric, period: OtlpPeriod): void {
  const { name, description, unit, kind, points } = metric
  w.tag(ITEMS, WireType.LengthDelimited).fork()
  w.tag(METRIC.name, WireType.LengthDelimited).string(name)
  w.tag(METRIC.description, WireType.LengthDelimited).string(description)
  w.tag(METRIC.unit, WireType.LengthDelimited).string(unit)
  w.tag(METRIC[kind], WireType.LengthDelimited).fork()
  for (const point of points) {
    if (point.buckets === undefined) writeNumber(w, point, kind === 'gauge', period)
    else writeHistogram(w, point, point.buckets, period)
  }
  if (kind !== 'gauge') w.tag(TEMPORALITY, WireType.Varint).int32(CUMULATIVE)
  if (kind === 'counter') w.tag(IS_MONOTONIC, WireType.Varint).bool(true)
  w.join().join()
}

function writeNumber(w: BinaryWriter, point: OtlpPoint, isGauge: boolean, period: OtlpPeriod): void {
  w.tag(POINTS, WireType.LengthDelimited).fork()
  if (!isGauge) w.tag(NUMBER.start, WireType.Bit64).fixed64(nanoseconds(period.startMs))
  w.tag(NUMBER.time, WireType.Bit64).fixed64(nanoseconds(period.endMs))
  w.tag(NUMBER.value, WireType.Bit64).double(point.value)
  for (const [name, value] of point.attributes) writeText(w, NUMBER.attributes, name, value)
  w.join()
}

function writeHistogram(
  w: BinaryWriter,
  { attributes, value }: OtlpPoint,
  { bounds, counts, exemplars }: OtlpBuckets,
  { startMs, endMs }: OtlpPeriod,
): void {
  w.tag(POINTS, WireType.LengthDelimited).fork()
  w.tag(HISTOGRAM.start, WireType.Bit64).fixed64(nanoseconds(startMs))
  w.tag(HISTOGRAM.time, WireType.Bit64).fixed64(nanoseconds(endMs))
  w.tag(HISTOGRAM.count, WireType.Bit64).fixed64(counts.reduce((sum, count) => sum + count, 0))
  w.tag(HISTOGRAM.sum, WireType.Bit64).double(value)
  w.tag(HISTOGRAM.counts, WireType.LengthDelimited).fork()
  for (const count of counts) w.fixed64(count)
  w.join()
  w.tag(HISTOGRAM.bounds, WireType.LengthDelimited).fork()
  for (const bound of bounds) w.double(bound)
  w.join()
  for (const { traceId, value, atS } of exemplars) {
    w.tag(HISTOGRAM.exemplars, WireType.LengthDelimited).fork()
    w.tag(EXEMPLAR.time, WireType.Bit64).fixed64(nanoseconds(atS * 1000))
    w.tag(EXEMPLAR.value, WireType.Bit64).double(value)
    w.tag(EXEMPLAR.traceId, WireType.LengthDelimited).bytes(Buffer.from(traceId, 'hex'))
    w.join()
  }
  for (const [name, text] of attributes) writeText(w, HISTOGRAM.attributes, name, text)
  w.join()
}

function nanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms)) * 1_000_000n
}
