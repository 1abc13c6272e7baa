import { headerValue } from '@sluice/core'
import { takeFraming } from './response-fields.js'

/** The head of a response as it came from a target. Heads of equal bytes may share one. */
export class ReceivedHead {
  /** 200 to 599. */
  readonly status: number
  /** All fields as a flat list, names in lower case, values as latin1. */
  readonly fields: readonly string[]
  /** What Content-Length announces; -1 without one. */
  readonly length: number
  /** Its end is marked by more than the end of the connection. */
  readonly isDelimited: boolean
  /** The fields that go on, and behind them room for the request id: a list that grows is copied once more. */
  readonly #passed: readonly string[]

  /** @param isFramed the protocol itself marks the end of each response. */
  constructor(status: number, fields: readonly string[], isFramed = false) {
    const passed = fields.slice()
    this.status = status
    this.fields = fields
    this.length = takeFraming(passed)
    const hasEnd = isFramed || this.length >= 0 || status === 204 || status === 304
    this.isDelimited = hasEnd || headerValue(fields, 'transfer-encoding') !== null
    passed.push('x-request-id', '')
    this.#passed = passed
  }

  /** A new list of the fields that go on to the client, without those that frame the message or end at the gateway. */
  passedFields(): string[] {
    return this.#passed.slice(0, -2)
  }

  /** The same, with the request id behind them. */
  passedFieldsWith(id: string): string[] {
    const fields = this.#passed.slice()
    fields[fields.length - 1] = id
    return fields
  }
}
