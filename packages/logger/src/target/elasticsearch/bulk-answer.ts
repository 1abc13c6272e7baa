import type { Rest } from '../../rest.js'
import type { Delivery, Refusal, Refusals } from '../target.js'
import { LazyRefusals } from './lazy-refusals.js'

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

/** The ends of an answer with nothing but items, as Elasticsearch writes it. */
const LIST = '{"items":['
const TAIL = ']}'
const ITEM = '{"create":{"status":'
/** In JSON between two items, and nowhere else: in a text the quotation mark would stand behind a backslash. */
const BETWEEN = ',{"create":'
const COMMA = 44
const BRACE = 125
/** Read in one go. */
const PIECE_CHARS = 16 * 1024
const MAX_REASON = 500

/** Whether an answer is to be read piece by piece, and therefore left as text. */
export function isReadInPieces(text: string): boolean {
  return text.length > PIECE_CHARS && text.startsWith(LIST + ITEM) && text.endsWith(TAIL)
}

/**
 * What became of each record. 409: an earlier attempt has written it. 429, 5xx and 403 (a block on the index, such as
 * that of a full disk) pass; any other refusal is for good.
 * @param answer a text when it is to be read in pieces. An item of a refused record is read only when its reason is asked
 * for.
 */
export async function bulkDelivery(
  answer: BulkAnswer | string,
  count: number,
  rest: Rest,
): Promise<Delivery> {
  try {
    const read = typeof answer === 'string' ? await readText(answer, count, rest) : readWhole(answer)
    if (read.items !== count) return failed(`the bulk answer has ${read.items} items for ${count} records`)
    return { kind: 'answered', refused: read.refused, again: read.again }
  } catch (error) {
    return failed(`the bulk answer cannot be read: ${(error as Error).message}`)
  }
}

function failed(reason: string): Delivery {
  return { kind: 'failed', overload: false, reason }
}

/** What an answer says: how many items it has, and which of the records are not delivered. */
interface Reading<R> {
  items: number
  readonly refused: R
  readonly again: number[]
}

function readWhole(answer: BulkAnswer | null): Reading<Refusal[]> {
  const reading: Reading<Refusal[]> = { items: 0, refused: [], again: [] }
  const items = Array.isArray(answer?.items) ? (answer.items as readonly BulkItem[]) : []
  for (const item of items) {
    const index = reading.items++
    const status = statusOf(item)
    if (isForGood(status)) reading.refused.push(refusalOf(item, index, status))
    else if (!isDelivered(status)) reading.again.push(index)
  }
  return reading
}

/** What is not written as Elasticsearch writes it, or is no answer to a bulk, is read as a whole. @throws Error for what is no JSON. */
async function readText(text: string, count: number, rest: Rest): Promise<Reading<Refusals>> {
  if (isReadInPieces(text)) {
    const reading = await readPieces(text, rest).catch(() => null)
    if (reading?.items === count) return reading
  }
  return readWhole(JSON.parse(text) as BulkAnswer)
}

/** Makes no objects of items but of those that are asked for: in a log thread they would outlive many collections. */
async function readPieces(text: string, rest: Rest): Promise<Reading<LazyRefusals>> {
  const refused = new LazyRefusals(text, ({ index, status }, json) =>
    refusalOf(JSON.parse(json) as BulkItem, index, status),
  )
  const reading: Reading<LazyRefusals> = { items: 0, refused, again: [] }
  const end = text.length - TAIL.length
  let pieceEnd = LIST.length + PIECE_CHARS
  for (let at = LIST.length; at < end; ) {
    if (at > pieceEnd) {
      await rest()
      pieceEnd = at + PIECE_CHARS
    }
    const next = text.indexOf(BETWEEN, at)
    const to = next === -1 ? end : next
    const index = reading.items++
    const status = statusAt(text, at, to)
    if (isForGood(status)) refused.add(index, status, at, to)
    else if (!isDelivered(status)) reading.again.push(index)
    at = to + 1
  }
  return reading
}

/** The status of the item that stands there, mostly read from its beginning. @throws Error of an item that is not JSON. */
function statusAt(text: string, from: number, to: number): number {
  const at = from + ITEM.length
  const end = at + 3
  if (text.startsWith(ITEM, from) && end < to) {
    const status = Number(text.slice(at, end))
    const isAlone = to === end + 2 && text.startsWith('}}', end)
    if (isAlone && status >= 200) return status
    // What counts as delivered has to be said by an item that is whole.
    const isRead = text.charCodeAt(end) === COMMA && text.charCodeAt(to - 1) === BRACE
    if (isRead && status >= 300 && !isDelivered(status)) return status
  }
  return statusOf(JSON.parse(text.slice(from, to)) as BulkItem)
}

/** An item that does not say what became of its record is none that could be believed: the record is sent again. */
function statusOf(item: BulkItem): number {
  const status: unknown = item.create?.status
  return typeof status === 'number' && status >= 200 ? status : 500
}

function isDelivered(status: number): boolean {
  return (status >= 200 && status < 300) || status === 409
}

function isForGood(status: number): boolean {
  return !isDelivered(status) && status !== 429 && status !== 403 && status < 500
}

function refusalOf(item: BulkItem, index: number, status: number): Refusal {
  const error = item.create?.error
  const cause = error?.caused_by?.reason
  const reason = `${error?.reason ?? ''}${cause === undefined ? '' : `: ${cause}`}`.slice(0, MAX_REASON)
  return { index, status, type: error?.type ?? 'unknown', reason }
}
