import type { Delivery, Refusal } from '../output.js'
import { type BulkItem, isDelivered, isForGood, refusalOf, statusOf } from './bulk-item.js'

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
