import type { Delivery, Refusal, Shipment } from '../target.js'

/** The part of a bulk answer that is asked for; Elasticsearch leaves out the rest. */
export interface BulkAnswer {
  readonly errors?: boolean
  readonly items?: readonly BulkItem[]
}

interface BulkItem {
  readonly create?: {
    readonly status?: number
    readonly error?: {
      readonly type?: string
      readonly reason?: string
      readonly caused_by?: { readonly reason?: string }
    }
  }
}

/** The answer's members that `bulkDelivery` reads, as `filter_path`. */
export const BULK_FILTER = [
  'items.create.status',
  'items.create.error.type',
  'items.create.error.reason',
  'items.create.error.caused_by.reason',
].join(',')

const HEAD = '{"create":{"_id":"'
const MIDDLE = '"}}\n'
const NEWLINE = 10
const MAX_REASON = 500

/**
 * A request body of `create` actions: a record that is there already is not written again (bulk API, `op_type`).
 * @param room where the body is made, if it is large enough.
 */
export function bulkBody(shipment: Shipment, room: Buffer): Buffer {
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
    at += body.write(HEAD + ids[i]! + MIDDLE, at, 'latin1')
    at += shipment.copyJson(i, body, at)
    body[at++] = NEWLINE
  }
  return body
}

/**
 * What became of each record. 409: an earlier attempt has written it. 429, 5xx and 403 (a block on the index, such as
 * that of a full disk) pass; any other refusal is for good.
 */
export function bulkDelivery(answer: BulkAnswer, count: number): Delivery {
  const items = Array.isArray(answer?.items) ? (answer.items as readonly BulkItem[]) : []
  if (items.length !== count) {
    return {
      kind: 'failed',
      overload: false,
      reason: `the bulk answer has ${items.length} items for ${count} records`,
    }
  }
  const refused: Refusal[] = []
  const again: number[] = []
  items.forEach((item, index) => {
    const status = statusOf(item)
    if ((status >= 200 && status < 300) || status === 409) return
    if (status === 429 || status === 403 || status >= 500) again.push(index)
    else refused.push(refusal(item, index, status))
  })
  return { kind: 'answered', refused, again }
}

/** An item that does not say what became of its record is none that could be believed: the record is sent again. */
function statusOf(item: BulkItem): number {
  const status: unknown = item.create?.status
  return typeof status === 'number' && status >= 200 ? status : 500
}

function refusal(item: BulkItem, index: number, status: number): Refusal {
  const error = item.create?.error
  const cause = error?.caused_by?.reason
  const reason = `${error?.reason ?? ''}${cause === undefined ? '' : `: ${cause}`}`.slice(0, MAX_REASON)
  return { index, status, type: error?.type ?? 'unknown', reason }
}
