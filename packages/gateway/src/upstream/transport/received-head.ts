import { headerValue } from '@sluice/core'
import { takeFraming } from '../../protocol/response-fields.js'

/** The head of a response from a target. Identical heads may share an instance. */
export class ReceivedHead {
  /** Status from 200 to 599. */
  readonly status: number
  /** The fields as a flat list: names in lower case, values in Latin-1. */
  readonly fields: readonly string[]
  /** Content-Length, or -1 if absent. */
  readonly length: number
  /** True if the end of the body is marked by more than the end of the connection. */
  readonly isDelimited: boolean
  /** Fields to forward, plus room for the request id, because growing the list would copy it again. */
  readonly #passed: readonly string[]

  /** @param isFramed true if the protocol itself marks the end of each response. */
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

  /** Returns a new list of the fields to forward, without framing and hop-by-hop fields. */
  forwardedFields(): string[] {
    return this.#passed.slice(0, -2)
  }

  /** Returns the fields to forward, followed by the request id. */
  forwardedFieldsWith(id: string): string[] {
    const fields = this.#passed.slice()
    fields[fields.length - 1] = id
    return fields
  }
}
