import { type Refusal, refusalMembers } from '../output.js'

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

/** The characters of a JSON string. */
const TEXT = String.raw`[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\x00-\x1f]*)*`
const REFUSED = new RegExp(
  String.raw`^\{"create":\{"status":\d{3},"error":\{"type":"(${TEXT})","reason":"(${TEXT})"(?:,"caused_by":\{"reason":"(${TEXT})"\})?\}\}\}$`,
)

/** Longer items are read: the expression takes room on the stack for each escape. */
const MAX_MATCHED_CHARS = 2048

/**
 * The same of an item's JSON. As Elasticsearch writes it, its texts are taken as they stand there, so that whoever writes
 * them as JSON again need not read them. @throws Error of what is no JSON.
 */
export function readRefusal(json: string, index: number, status: number): Refusal {
  const reported = json.length <= MAX_MATCHED_CHARS ? REFUSED.exec(json) : null
  const [, type, reason, cause] = reported ?? []
  if (type === undefined || reason === undefined || reason.length + (cause?.length ?? 0) > MAX_REASON - 2)
    return refusalOf(JSON.parse(json) as BulkItem, index, status)
  return new TextRefusal(index, status, type, cause === undefined ? reason : `${reason}: ${cause}`)
}

/** A refusal whose texts are parts of a JSON text. */
class TextRefusal implements Refusal {
  readonly index: number
  readonly status: number
  readonly #type: string
  readonly #reason: string

  constructor(index: number, status: number, type: string, reason: string) {
    this.index = index
    this.status = status
    this.#type = type
    this.#reason = reason
  }

  get type(): string {
    return JSON.parse(`"${this.#type}"`) as string
  }

  get reason(): string {
    return JSON.parse(`"${this.#reason}"`) as string
  }

  get json(): string {
    return refusalMembers(`"${this.#type}"`, `"${this.#reason}"`)
  }
}
