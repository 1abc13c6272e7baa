import { BinaryWriter } from '@bufbuild/protobuf/wire'
import type { YieldCpu } from '../../lib/yield.js'
import type { Shipment } from '../output.js'
import { readRecord } from '../record-parts.js'
import { type Attributes, resourceOf } from './resource.js'
import { messageOf, writeResource } from './resource-message.js'
import type { TracedRecord } from './traced-record.js'

/** Number of records converted before yielding, which takes about half a millisecond. */
const AT_ONCE = 32

/** Function that writes the spans or log records of a record, and returns their number. */
export type WriteItems = (w: BinaryWriter, record: TracedRecord, json: string) => number

/** An export request. */
interface ExportRequest {
  readonly message: Buffer
  /** Number of spans or log records of each record. */
  readonly items: readonly number[]
}

interface Group {
  readonly resource: Attributes
  readonly items: BinaryWriter
}

/** Builds an export request with the items of all records, grouped by the worker that wrote them. */
export async function exportRequest(
  shipment: Shipment,
  options: { readonly environment: Attributes; readonly write: WriteItems; readonly yieldCpu: YieldCpu },
): Promise<ExportRequest> {
  const groups = new Map<string, Group>()
  const items: number[] = []
  for (let i = 0; i < shipment.count; i++) {
    if (i > 0 && i % AT_ONCE === 0) await options.yieldCpu()
    const json = shipment.jsonOf(i).toString('latin1')
    const record = readRecord(json)
    const { gw, env } = record
    const key = JSON.stringify([gw, env])
    let group = groups.get(key)
    if (group === undefined) {
      group = { resource: resourceOf(record, options.environment), items: new BinaryWriter() }
      groups.set(key, group)
    }
    items.push(options.write(group.items, record, json))
  }
  const request = new BinaryWriter()
  for (const group of groups.values()) writeResource(request, group.resource, group.items)
  return { message: messageOf(request), items }
}
