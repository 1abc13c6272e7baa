import type { Shipment } from '../outputs/output.js'

/** A record that an output refused, as it stands in a file of dead letters. */
export interface Letter {
  readonly id: string
  readonly status: number
  readonly type: string
  readonly reason: string
  /** The JSON of the record, as it was sent. */
  readonly record: Buffer
  /** The whole line. */
  readonly line: Buffer
}

/** No text inside of JSON has a quote without a backslash, so this is found where it is a member. */
const RECORD = Buffer.from(',"record":')
const BRACE = 125

/** Reads a line of a file of dead letters; null when it is damaged. */
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

/** Some dead letters, as an output sees them. */
export class LetterShipment implements Shipment {
  readonly count: number
  readonly bytes: number
  /** By a replay that was ended in the middle. */
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
