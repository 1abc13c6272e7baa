import type { Delivery, Refusal } from '../output.js'

/** The part of a bulk answer that is asked for; Elasticsearch leaves out the rest. */
export interface BulkAnswer {
  readonly items?: readonly BulkItem[]
}

const HEAD = '{"items":['
const WRITTEN = '{"create":{"status":201}},'
const TAIL = ']}'
/** Items of written records, one after the other; grows to the most that were needed. */
let written = WRITTEN

/** Whether a text is the answer to a bulk, to be left as text: where all records were written it need not be parsed. */
export function isBulkText(text: string): boolean {
  return text.startsWith(HEAD) && text.endsWith(TAIL)
}

/** What became of each record. @param answer a text when it is one to a bulk. */
export function bulkDelivery(answer: BulkAnswer | string, count: number): Delivery {
  if (typeof answer !== 'string') return readDelivery(answer, count)
  if (saysAllWritten(answer, count)) return { kind: 'answered', refused: [], again: [] }
  try {
    return readDelivery(JSON.parse(answer) as BulkAnswer | null, count)
  } catch (error) {
    return failed(`the bulk answer cannot be read: ${(error as Error).message}`)
  }
}

/** Compared as a whole, which is what nearly every answer needs: parsed, each would be thousands of objects. */
function saysAllWritten(text: string, count: number): boolean {
  const length = count * WRITTEN.length - 1
  if (count === 0 || text.length !== HEAD.length + length + TAIL.length || !isBulkText(text)) return false
  while (written.length < length) written += written
  return text.slice(HEAD.length, -TAIL.length) === written.slice(0, length)
}

function readDelivery(answer: BulkAnswer | null, count: number): Delivery {
  const items = Array.isArray(answer?.items) ? (answer.items as readonly BulkItem[]) : []
  if (items.length !== count) return failed(`the bulk answer has ${items.length} items for ${count} records`)
  const refused: Refusal[] = []
  const again: number[] = []
  for (const [index, item] of items.entries()) {
    const status = statusOf(item)
    if (isForGood(status)) refused.push(refusalOf(item, index, status))
    else if (!isDelivered(status)) again.push(index)
  }
  return { kind: 'answered', refused, again }
}

function failed(reason: string): Delivery {
  return { kind: 'failed', overload: false, reason }
}

/** What a bulk answer says of one record. */
export interface BulkItem {
  readonly create?: {
    readonly status?: number
    readonly error?: {
      readonly type?: string
      readonly reason?: string
      readonly caused_by?: { readonly reason?: string }
    }
  }
}

/** The members of an item that are asked for, as Elasticsearch's `filter_path`. */
export const ITEM_FILTER = ['status', 'error.type', 'error.reason', 'error.caused_by.reason']
  .map((member) => `items.create.${member}`)
  .join(',')

const MAX_REASON = 500

/** An item that does not say what became of its record is none that could be believed: the record is sent again. */
export function statusOf(item: BulkItem): number {
  const status: unknown = item.create?.status
  return typeof status === 'number' && status >= 200 ? status : 500
}

/** 409: an earlier attempt has written it. */
export function isDelivered(status: number): boolean {
  return (status >= 200 && status < 300) || status === 409
}

/** Returns true unless the record is written or will be taken later: 429, 5xx and 403 (a block on the index) pass. */
export function isForGood(status: number): boolean {
  return !isDelivered(status) && status !== 429 && status !== 403 && status < 500
}

/**
 * Errors with a 4xx status that are about the index, not the record: the index is closed or missing, or the cluster has
 * reached its limit of shards (`validation_exception`). An operator can repair each of them.
 */
const INDEX_ERRORS: ReadonlySet<string> = new Set([
  'index_closed_exception',
  'index_not_found_exception',
  'resource_already_exists_exception',
  'validation_exception',
])

/** Returns true if the same record can be taken once an operator has repaired the index or the credentials. */
export function isIndexError(status: number, type: string | undefined): boolean {
  return status === 401 || status === 404 || INDEX_ERRORS.has(type ?? '')
}

/** Returns the reason why an item's record was refused. */
export function refusalOf(item: BulkItem, index: number, status: number): Refusal {
  const error = item.create?.error
  const cause = error?.caused_by?.reason
  const reason = `${error?.reason ?? ''}${cause === undefined ? '' : `: ${cause}`}`.slice(0, MAX_REASON)
  const refusal = { index, status, type: error?.type ?? 'unknown', reason }
  return isIndexError(status, error?.type) ? { ...refusal, isTemporary: true } : refusal
}
