import { type HttpAnswer, headerJoined, UnreadableBody } from '@sluice/core'
import { compileJsonPath } from '../../engines/json/path.js'
import type { Draft } from '../../shared/field-location/draft.js'
import { compileLocation } from '../../shared/field-location/location.js'
import { isExact } from '../../shared/json/exact.js'
import { type JsonView, jsonOfBytes } from '../../shared/json/view.js'
import type { Side } from '../../shared/message/side.js'
import type { CallConfig } from './schema.js'

type SaveConfig = NonNullable<CallConfig['save']>[number]

/** A value from a response: text, bytes or JSON text. */
interface Value {
  readonly bytes: Uint8Array
  /** JSON text of the value, or null if it has none. */
  readonly json: string | null
}

/** A response from which values are read. The body is parsed once. */
export class ParsedResponse {
  readonly answer: HttpAnswer
  #json: JsonView | null | undefined

  constructor(answer: HttpAnswer) {
    this.answer = answer
  }

  /** The parsed body, or null if it is not JSON. */
  get json(): JsonView | null {
    if (this.#json === undefined) this.#json = viewOf(this.answer.body)
    return this.#json
  }
}

function viewOf(body: Uint8Array): JsonView | null {
  try {
    return jsonOfBytes(body)
  } catch (error) {
    if (error instanceof UnreadableBody) return null
    throw error
  }
}

/** Copies one value from a response into the message. */
export interface SavedValue {
  readonly isInBody: boolean
  /**
   * Writes the value. Returns false if a required value is missing. `read` is null if there is no response.
   */
  put(draft: Draft, read: ParsedResponse | null): boolean
}

/** Compiles an entry of `save`. @throws Error if the path or the location is invalid. */
export function compileSave({ from, to, default: fallback, required }: SaveConfig, side: Side): SavedValue {
  const read = compileSource(from)
  const location = compileLocation(to, side)
  const isJson = to.startsWith('json')
  const other: Value | null =
    fallback === undefined ? null : { bytes: Buffer.from(fallback), json: JSON.stringify(fallback) }
  return {
    isInBody: location.isInBody,
    put(draft, answer) {
      const value = answer === null ? null : read(answer)
      const written = value ?? other
      const isOwnJson = isJson && written !== null && written.json !== null
      const bytes = isOwnJson ? Buffer.from(written.json!) : written?.bytes
      const isWritten = bytes !== undefined && location.write(draft, bytes, isOwnJson)
      // Without a value, anything the client sent in this place must not pass for a value from the server.
      if (!isWritten && !location.isWholeBody) location.remove(draft)
      return (value !== null && isWritten) || !required
    },
  }
}

function compileSource(from: string): (read: ParsedResponse) => Value | null {
  if (from === 'status') return ({ answer }) => textValue(String(answer.status), true)
  if (from === 'body') return bodyValue
  if (from.startsWith('header.')) {
    const name = from.slice('header.'.length).toLowerCase()
    return ({ answer }) => {
      const line = headerJoined(answer.headers, name) ?? ''
      return line === '' ? null : textValue(line, false)
    }
  }
  if (!from.startsWith('$'))
    throw new Error(
      `'${from}' does not name a part of a response; write status, body, header.NAME or a JSON path ($.a.b)`,
    )
  const path = compileJsonPath(from)
  return ({ json }) => {
    const found = json === null ? undefined : path.first(json.value)
    // A number that lost digits is a different number, perhaps another customer's id.
    if (found === undefined || found === null || !isExact(found)) return null
    const text = JSON.stringify(found)
    return { bytes: Buffer.from(typeof found === 'string' ? found : text), json: text }
  }
}

/** Returns the whole body. A JSON body stays JSON when it is written into JSON. */
function bodyValue(read: ParsedResponse): Value | null {
  const { body } = read.answer
  if (body.length === 0) return null
  const isJson = read.json !== null
  return {
    bytes: body,
    json: isJson ? Buffer.from(body).toString() : JSON.stringify(Buffer.from(body).toString()),
  }
}

function textValue(text: string, isNumber: boolean): Value {
  return { bytes: Buffer.from(text), json: isNumber ? text : JSON.stringify(text) }
}
