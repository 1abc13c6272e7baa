import type { YieldCpu } from '../../lib/yield.js'
import type { Shipment } from '../output.js'

const HEAD = '{"create":{"_id":"'
const MIDDLE = '"}}\n'
const NEWLINE = 10
/** Number of records formatted before yielding, which takes about 0.1 ms. */
const AT_ONCE = 256

/**
 * Builds a bulk request body of `create` actions, which do not overwrite existing records (`op_type`).
 * @param room Buffer that is used if it is large enough.
 */
export async function bulkBody(shipment: Shipment, room: Buffer, yieldCpu: YieldCpu): Promise<Buffer> {
  const ids: string[] = []
  let size = shipment.bytes
  for (let i = 0; i < shipment.count; i++) {
    const id = shipment.idOf(i)
    ids.push(id)
    size += HEAD.length + id.length + MIDDLE.length + 1
  }
  const body = size <= room.length ? room.subarray(0, size) : Buffer.allocUnsafe(size)
  let at = 0
  for (let i = 0; i < shipment.count; i++) {
    if (i > 0 && i % AT_ONCE === 0) await yieldCpu()
    at += body.write(HEAD + ids[i]! + MIDDLE, at, 'latin1')
    at += shipment.copyJson(i, body, at)
    body[at++] = NEWLINE
  }
  return body
}
