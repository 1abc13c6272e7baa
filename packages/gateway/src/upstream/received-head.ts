import { takeFraming } from './response-fields.js'

/** The head of a response as it came from a target. Heads of equal bytes may share one. */
export class ReceivedHead {
  /** 200 to 599. */
  readonly status: number
  /** All fields as a flat list, names in lower case, values as latin1. */
  readonly fields: readonly string[]
  /** What Content-Length announces; -1 without one. */
  readonly length: number
  readonly #passed: readonly string[]

  constructor(status: number, fields: readonly string[]) {
    const passed = fields.slice()
    this.status = status
    this.fields = fields
    this.length = takeFraming(passed)
    this.#passed = passed
  }

  /** A new list of the fields that go on to the client, without those that frame the message or end at the gateway. */
  passedFields(): string[] {
    return this.#passed.slice()
  }
}
