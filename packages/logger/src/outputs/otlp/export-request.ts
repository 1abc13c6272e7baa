import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import type { YieldCpu } from '../../lib/yield.js'
import type { Shipment } from '../output.js'
import { readRecord } from '../record-parts.js'
import { writeText } from './attributes.js'
import { type Attributes, resourceOf } from './resource.js'
import { writeSpans } from './spans.js'

/** Number of records converted before yielding, which takes about half a millisecond. */
const AT_ONCE = 32

/** Fields of the messages in opentelemetry/proto/trace/v1/trace.proto. */
const FIELD = {
  request: { resourceSpans: 1 },
  resourceSpans: { resource: 1, scopeSpans: 2 },
  resource: { attributes: 1 },
  scopeSpans: { scope: 1 },
  scope: { name: 1 },
} as const

interface Group {
  readonly resource: Attributes
  /** The spans, as fields of a ScopeSpans message. */
  readonly spans: BinaryWriter
}

/** Builds an ExportTraceServiceRequest with the spans of all records, grouped by the worker that wrote them. */
export async function exportRequest(
  shipment: Shipment,
  environment: Attributes,
  yieldCpu: YieldCpu,
): Promise<Buffer> {
  const groups = new Map<string, Group>()
  for (let i = 0; i < shipment.count; i++) {
    if (i > 0 && i % AT_ONCE === 0) await yieldCpu()
    const record = readRecord(shipment.jsonOf(i).toString('latin1'))
    const { gw, env } = record
    const key = JSON.stringify([gw, env])
    let group = groups.get(key)
    if (group === undefined) {
      group = { resource: resourceOf(record, environment), spans: new BinaryWriter() }
      groups.set(key, group)
    }
    writeSpans(group.spans, record)
  }
  const request = new BinaryWriter()
  for (const group of groups.values()) writeGroup(request, group)
  const { buffer, byteOffset, byteLength } = request.finish()
  return Buffer.from(buffer, byteOffset, byteLength)
}

function writeGroup(w: BinaryWriter, { resource, spans }: Group): void {
  w.tag(FIELD.request.resourceSpans, WireType.LengthDelimited).fork()
  w.tag(FIELD.resourceSpans.resource, WireType.LengthDelimited).fork()
  for (const [name, value] of Object.entries(resource)) writeText(w, FIELD.resource.attributes, name, value)
  w.join()
  w.tag(FIELD.resourceSpans.scopeSpans, WireType.LengthDelimited).fork()
  w.tag(FIELD.scopeSpans.scope, WireType.LengthDelimited).fork()
  w.tag(FIELD.scope.name, WireType.LengthDelimited).string('sluice')
  w.join()
  w.raw(spans.finish())
  w.join()
  w.join()
}
