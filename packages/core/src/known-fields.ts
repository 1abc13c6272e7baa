import { internalized } from './own-text.js'
import { Patience } from './patience.js'

const SLOTS = 128
/** A longer value (a cookie, a token) is not remembered, which bounds the memory. */
export const MAX_VALUE_LENGTH = 200

/**
 * Remembers fields of messages, name and value: most fields of a message are those of the message before.
 *
 * One place for each name, found by a hash; names that meet in one place cost speed, never the right answer, because name
 * and value are compared whole.
 */
export class KnownFields {
  /** By place; empty where nothing is remembered. Both are internalized. */
  readonly names: string[] = new Array<string>(SLOTS).fill('')
  readonly values: string[] = new Array<string>(SLOTS).fill('')
  readonly #patience = new Patience(SLOTS)

  /** The place of a field of this name and value; -1 when it is not known. */
  find(name: string, value: string): number {
    const place = placeOf(name)
    if (this.names[place] !== name || this.values[place] !== value || name === '') return -1
    this.#patience.renew(place)
    return place
  }

  /** Whether a field of this name is known, whatever its value. */
  hasName(name: string): boolean {
    return name !== '' && this.names[placeOf(name)] === name
  }

  /** Remembers a field that is not known. Answers its place; -1 when it is not worth keeping. */
  learn(name: string, value: string): number {
    const place = placeOf(name)
    if (!this.#patience.isWorthKeeping(place) || value.length > MAX_VALUE_LENGTH) return -1
    this.names[place] = internalized(name)
    this.values[place] = internalized(value)
    return place
  }
}

function placeOf(name: string): number {
  const { length } = name
  return (length * 59 + name.charCodeAt(length - 1) * 5 + name.charCodeAt(length >> 1)) & (SLOTS - 1)
}
