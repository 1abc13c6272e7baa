import type { Refusal } from '../output.js'

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

/** 429, 5xx and 403 (a block on the index, such as that of a full disk) pass. */
export function isForGood(status: number): boolean {
  return !isDelivered(status) && status !== 429 && status !== 403 && status < 500
}

/** Why an item's record was refused. */
export function refusalOf(item: BulkItem, index: number, status: number): Refusal {
  const error = item.create?.error
  const cause = error?.caused_by?.reason
  const reason = `${error?.reason ?? ''}${cause === undefined ? '' : `: ${cause}`}`.slice(0, MAX_REASON)
  return { index, status, type: error?.type ?? 'unknown', reason }
}
