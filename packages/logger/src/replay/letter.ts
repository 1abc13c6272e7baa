import type { Shipment } from '../outputs/output.js'
import { actionLine } from '../spool/block.js'

/** A refused record, as stored in a dead-letter file. */
export interface Letter {
  readonly id: string
  readonly status: number
  readonly type: string
  readonly reason: string
  /** JSON of the record as it was sent. */
  readonly record: Buffer
  /** The complete line. */
  readonly line: Buffer
}

/** Start of the `record` member. It cannot occur within a JSON string, where quotes are escaped. */
const RECORD = Buffer.from(',"record":')
const BRACE = 125
const NEWLINE = Buffer.from('\n')

/** Parses a line of a dead-letter file. Returns null if it is damaged. */
export function parseLetter(line: Buffer): Letter | null {
  const at = line.indexOf(RECORD)
  const end = line.lastIndexOf(BRACE)
  if (at === -1 || end <= at) return null
  const record = line.subarray(at + RECORD.length, end)
  try {
    const { id, status, type, reason } = JSON.parse(line.toString('utf8')) as Record<string, unknown>
    if (typeof id !== 'string' || id === '') return null
    return { id, status: Number(status), type: String(type), reason: String(reason), record, line }
  } catch {
    return null
  }
}

/** Dead letters as a shipment for an output. */
export class LetterShipment implements Shipment {
  readonly count: number
  /** True because an interrupted replay may have delivered them. */
  readonly mayBeDelivered = true
  readonly #letters: readonly Letter[]

  constructor(letters: readonly Letter[]) {
    this.#letters = letters
    this.count = letters.length
  }

  idOf(i: number): string {
    return this.#letters[i]!.id
  }

  jsonOf(i: number): Buffer {
    return this.#letters[i]!.record
  }

  get bulkBody(): Buffer {
    return Buffer.concat(this.#letters.flatMap(({ id, record }) => [actionLine(id), record, NEWLINE]))
  }
}
