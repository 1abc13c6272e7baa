import type { Shipment } from '../outputs/output.js'

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
  readonly bytes: number
  /** True because an interrupted replay may have delivered them. */
  readonly mayBeDelivered = true
  readonly #letters: readonly Letter[]

  constructor(letters: readonly Letter[]) {
    this.#letters = letters
    this.count = letters.length
    this.bytes = letters.reduce((sum, { record }) => sum + record.length, 0)
  }

  idOf(i: number): string {
    return this.#letters[i]!.id
  }

  jsonOf(i: number): Buffer {
    return this.#letters[i]!.record
  }

  lengthOf(i: number): number {
    return this.#letters[i]!.record.length
  }

  copyJson(i: number, into: Buffer, at: number): number {
    return this.#letters[i]!.record.copy(into, at)
  }
}
