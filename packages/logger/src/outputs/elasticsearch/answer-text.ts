import { type BulkItem, isDelivered, isForGood, statusOf } from './bulk-item.js'
import { LazyRefusals } from './lazy-refusals.js'

/** The ends of an answer with nothing but items, as Elasticsearch writes it. */
const LIST = '{"items":['
const TAIL = ']}'
const ITEM = '{"create":{"status":'
/** In JSON between two items, and nowhere else: in a text the quotation mark would stand after a backslash. */
const BETWEEN = ',{"create":'
const COMMA = 44
const BRACE = 125
/** Read in one go. */
const PIECE_CHARS = 16 * 1024

/** Whether an answer is one to a bulk, to be left as text: parsing it at once would take as long as many requests. */
export function isBulkText(text: string): boolean {
  return text.startsWith(LIST + ITEM) && text.endsWith(TAIL)
}

const WRITTEN = '{"create":{"status":201}},'
/** Items of written records, one after the other; grows to the most that were needed. */
let written = WRITTEN

/** Whether an answer says of so many records that each was written: compared as a whole, it need not be read. */
export function saysAllWritten(text: string, count: number): boolean {
  const length = count * WRITTEN.length - 1
  if (count === 0 || text.length !== LIST.length + length + TAIL.length || !isBulkText(text)) return false
  while (written.length < length) written += written
  return text.slice(LIST.length, -TAIL.length) === written.slice(0, length)
}

/** An answer for which `isBulkText` is true: what it says of records, as far as it has been read. */
export class AnswerText {
  readonly refused: LazyRefusals
  readonly again: number[] = []
  readonly #text: string
  readonly #end: number
  #items = 0
  #at = LIST.length

  constructor(text: string) {
    this.#text = text
    this.#end = text.length - TAIL.length
    this.refused = new LazyRefusals(text)
  }

  /** How many items were read. */
  get items(): number {
    return this.#items
  }

  get isRead(): boolean {
    return this.#at >= this.#end
  }

  /** Reads on for a piece. @throws Error of an item that is not JSON. */
  readPiece(): void {
    const to = Math.min(this.#at + PIECE_CHARS, this.#end)
    while (this.#at < to) {
      this.#at = this.#readItem(this.#items, this.#at) + 1
      this.#items++
    }
  }

  /** Returns where the item ends. */
  #readItem(index: number, from: number): number {
    const text = this.#text
    const begun = text.startsWith(ITEM, from) ? statusAt(text, from + ITEM.length) : 0
    const end = from + ITEM.length + 3
    if (isDelivered(begun) && text.startsWith('}}', end)) {
      const to = end + 2
      if (to === this.#end || (text.charCodeAt(to) === COMMA && to + 1 < this.#end)) return to
    }
    const next = text.indexOf(BETWEEN, from)
    const to = next === -1 ? this.#end : next
    // What counts as delivered has to be said by an item that is whole.
    const isKnown =
      begun !== 0 &&
      !isDelivered(begun) &&
      text.charCodeAt(end) === COMMA &&
      text.charCodeAt(to - 1) === BRACE
    const status = isKnown ? begun : statusOf(JSON.parse(text.slice(from, to)) as BulkItem)
    if (isForGood(status)) this.refused.add(index, status, from, to)
    else if (!isDelivered(status)) this.again.push(index)
    return to
  }
}

/** The status whose three digits stand there; 0 if it is none. */
function statusAt(text: string, at: number): number {
  const status = Number(text.slice(at, at + 3))
  return status >= 200 ? status : 0
}
