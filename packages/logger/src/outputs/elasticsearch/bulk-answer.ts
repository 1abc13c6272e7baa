import type { YieldCpu } from '../../yield.js'
import type { Delivery, Refusal, Refusals } from '../output.js'
import { AnswerText, isBulkText, saysAllWritten } from './answer-text.js'
import { type BulkItem, isDelivered, isForGood, refusalOf, statusOf } from './bulk-item.js'

/** The part of a bulk answer that is asked for; Elasticsearch leaves out the rest. */
export interface BulkAnswer {
  readonly items?: readonly BulkItem[]
}

/**
 * What became of each record.
 * @param answer a text when it is one to a bulk. An item of a refused record is read only when its reason is asked
 * for.
 */
export async function bulkDelivery(
  answer: BulkAnswer | string,
  count: number,
  yieldCpu: YieldCpu,
): Promise<Delivery> {
  try {
    const read = typeof answer === 'string' ? await readText(answer, count, yieldCpu) : readWhole(answer)
    if (read.items !== count) return failed(`the bulk answer has ${read.items} items for ${count} records`)
    const { refused, again } = read
    // A lazy list holds on to the whole answer.
    return { kind: 'answered', refused: refused.length === 0 ? [] : refused, again }
  } catch (error) {
    return failed(`the bulk answer cannot be read: ${(error as Error).message}`)
  }
}

function failed(reason: string): Delivery {
  return { kind: 'failed', overload: false, reason }
}

/** What an answer says: how many items it has, and which of the records are not delivered. */
interface Reading {
  readonly items: number
  readonly refused: Refusals
  readonly again: readonly number[]
}

function readWhole(answer: BulkAnswer | null): Reading {
  const items = Array.isArray(answer?.items) ? (answer.items as readonly BulkItem[]) : []
  const refused: Refusal[] = []
  const again: number[] = []
  for (const [index, item] of items.entries()) {
    const status = statusOf(item)
    if (isForGood(status)) refused.push(refusalOf(item, index, status))
    else if (!isDelivered(status)) again.push(index)
  }
  return { items: items.length, refused, again }
}

/**
 * What is not written as Elasticsearch writes it, or is no answer to a bulk, is read as a whole.
 * @throws Error for what is no JSON.
 */
async function readText(text: string, count: number, yieldCpu: YieldCpu): Promise<Reading> {
  if (saysAllWritten(text, count)) return { items: count, refused: [], again: [] }
  if (isBulkText(text)) {
    const reading = await readPieces(text, yieldCpu).catch(() => null)
    if (reading?.items === count) return reading
  }
  return readWhole(JSON.parse(text) as BulkAnswer)
}

async function readPieces(text: string, yieldCpu: YieldCpu): Promise<Reading> {
  const answer = new AnswerText(text)
  answer.readPiece()
  while (!answer.isRead) {
    await yieldCpu()
    answer.readPiece()
  }
  return answer
}
