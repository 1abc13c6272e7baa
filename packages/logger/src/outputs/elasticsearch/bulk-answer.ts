import { errors } from '@elastic/elasticsearch'
import { reasonOf, statusOf as responseStatus } from '../../elasticsearch/cluster-error.js'
import type { Delivery, Refusal } from '../output.js'

/** Requested part of a bulk response. Elasticsearch omits the rest. */
export interface BulkAnswer {
  readonly items?: readonly BulkItem[]
}

const HEAD = '{"items":['
const WRITTEN = '{"create":{"status":201}},'
const TAIL = ']}'
/** Repeated items of written records, extended as needed. */
let written = WRITTEN

/**
 * Returns true if a text is a bulk response. It stays text, because it need not be parsed if all records were
 * written.
 */
export function isBulkText(text: string): boolean {
  return text.startsWith(HEAD) && text.endsWith(TAIL)
}

/** Returns the result for each record. @param answer Text if it is a bulk response. */
export function bulkDelivery(answer: BulkAnswer | string, count: number): Delivery {
  if (typeof answer !== 'string') return readDelivery(answer, count)
  if (saysAllWritten(answer, count)) return { kind: 'answered', refused: [], again: [] }
  try {
    return readDelivery(JSON.parse(answer) as BulkAnswer | null, count)
  } catch (error) {
    return failed(`the bulk response cannot be parsed: ${(error as Error).message}`)
  }
}

/**
 * Returns true if the response says that all records were written. Nearly every response does. Parsing it
 * would create thousands of objects.
 */
function saysAllWritten(text: string, count: number): boolean {
  const length = count * WRITTEN.length - 1
  if (count === 0 || text.length !== HEAD.length + length + TAIL.length || !isBulkText(text)) return false
  while (written.length < length) written += written
  return text.slice(HEAD.length, -TAIL.length) === written.slice(0, length)
}

function readDelivery(answer: BulkAnswer | null, count: number): Delivery {
  const items = Array.isArray(answer?.items) ? (answer.items as readonly BulkItem[]) : []
  if (items.length !== count)
    return failed(`the bulk response has ${items.length} items for ${count} records`)
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

/** Result of one record in a bulk response. */
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

/** Value for Elasticsearch's `filter_path` that selects the needed members of an item. */
export const ITEM_FILTER = ['status', 'error.type', 'error.reason', 'error.caused_by.reason']
  .map((member) => `items.create.${member}`)
  .join(',')

const MAX_REASON = 500

/**
 * Returns the status of an item. An item without a valid status counts as 500, so the record is sent again.
 */
export function statusOf(item: BulkItem): number {
  const status: unknown = item.create?.status
  return typeof status === 'number' && status >= 200 ? status : 500
}

/** Returns true if the record is stored. 409 means that an earlier attempt stored it. */
export function isDelivered(status: number): boolean {
  return (status >= 200 && status < 300) || status === 409
}

/**
 * Returns true if the record is rejected permanently. 429, 5xx and 403 (a block on the index) are temporary.
 */
export function isForGood(status: number): boolean {
  return !isDelivered(status) && status !== 429 && status !== 403 && status < 500
}

/**
 * Errors with a 4xx status that concern the index and not the record: the index is closed or missing, or the
 * cluster has reached its shard limit (`validation_exception`). An operator can fix them.
 */
const INDEX_ERRORS: ReadonlySet<string> = new Set([
  'index_closed_exception',
  'index_not_found_exception',
  'resource_already_exists_exception',
  'validation_exception',
])

/** Returns true if the record can be accepted after an operator has fixed the index or the credentials. */
function isIndexError(status: number, type: string | undefined): boolean {
  return status === 401 || status === 404 || INDEX_ERRORS.has(type ?? '')
}

/** Returns the refusal of an item's record. */
export function refusalOf(item: BulkItem, index: number, status: number): Refusal {
  const error = item.create?.error
  const cause = error?.caused_by?.reason
  const reason = `${error?.reason ?? ''}${cause === undefined ? '' : `: ${cause}`}`.slice(0, MAX_REASON)
  const refusal = { index, status, type: error?.type ?? 'unknown', reason }
  return isIndexError(status, error?.type) ? { ...refusal, isTemporary: true } : refusal
}

/** Returns the outcome for the records of a bulk request that failed as a whole. */
export function failedDelivery(error: unknown): Delivery {
  const reason = reasonOf(error)
  const status = responseStatus(error)
  const isRefused = status === 400 && isByCluster(error) && !isIndexError(status, typeOf(error))
  if (status === 413 || isRefused) return { kind: 'unfit', status, reason }
  const overload = status === 429 || status === 503 || error instanceof errors.TimeoutError
  return { kind: 'failed', overload, reason }
}

/**
 * Returns true if the cluster itself sent the response: it has the header of Elasticsearch or the error of OpenSearch.
 * Any other 400 comes from a proxy and does not concern a record.
 */
function isByCluster(error: unknown): boolean {
  if (!(error instanceof errors.ResponseError)) return false
  return (
    error.headers?.['x-elastic-product'] === 'Elasticsearch' || Array.isArray(error.body?.error?.root_cause)
  )
}

function typeOf(error: unknown): string | undefined {
  const body: unknown = error instanceof errors.ResponseError ? error.body : null
  return (body as { readonly error?: { readonly type?: string } } | null)?.error?.type
}
