import { type BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { writeText } from './attributes.js'
import type { Attributes } from './resource.js'

/**
 * Fields of the export requests in opentelemetry/proto/collector. Traces, logs and metrics have the same numbers, such as
 * those of ResourceSpans, ResourceLogs and ResourceMetrics.
 */
const FIELD = {
  request: { ofResource: 1 },
  ofResource: { resource: 1, ofScope: 2 },
  resource: { attributes: 1 },
  ofScope: { scope: 1 },
  scope: { name: 1 },
} as const

/** Field of the spans, log records or metrics in the message of a scope. */
export const ITEMS = 2

/** Writes what a resource sent into an export request. @param items fields `ITEMS`, one after the other */
export function writeResource(w: BinaryWriter, attributes: Attributes, items: BinaryWriter): void {
  w.tag(FIELD.request.ofResource, WireType.LengthDelimited).fork()
  w.tag(FIELD.ofResource.resource, WireType.LengthDelimited).fork()
  for (const [name, value] of Object.entries(attributes)) writeText(w, FIELD.resource.attributes, name, value)
  w.join()
  w.tag(FIELD.ofResource.ofScope, WireType.LengthDelimited).fork()
  w.tag(FIELD.ofScope.scope, WireType.LengthDelimited).fork()
  w.tag(FIELD.scope.name, WireType.LengthDelimited).string('sluice')
  w.join()
  w.raw(items.finish())
  w.join()
  w.join()
}

/** Returns the bytes of a message. */
export function messageOf(w: BinaryWriter): Buffer {
  const { buffer, byteOffset, byteLength } = w.finish()
  return Buffer.from(buffer, byteOffset, byteLength)
}
