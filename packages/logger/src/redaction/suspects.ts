import type { ValueTypeName } from '@sluice/core'

/** Characters that start an escape in some format. The text behind one is unknown. */
const ESCAPES = '\\%&<'
const PLUS = 43
const MARKED = 255

/** Properties of every value of a type without escapes: a character, a number of digits and a length. */
const NEEDS: Readonly<Record<ValueTypeName, readonly [character: string, digits: number, length: number]>> = {
  card: ['', 13, 13],
  iban: ['', 2, 15],
  tckn: ['', 11, 11],
  email: ['@', 0, 0],
  phone: ['', 7, 7],
  jwt: ['J', 0, 0],
  'private-key': ['-', 0, 0],
  'aws-key': ['A', 0, 0],
}

/** Characters and numbers of digits for which a part of a text is examined. */
export class SuspectSigns {
  /** 1 for a digit, `MARKED` for a character that every type or escape has. */
  readonly #weights = new Uint8Array(128)
  readonly #numbers: (readonly [digits: number, length: number])[] = []

  constructor(types: readonly ValueTypeName[], names: readonly string[]) {
    for (let digit = 48; digit < 58; digit++) this.#weights[digit] = 1
    // In forms, a plus is a space.
    let marked = names.some((name) => name.includes(' ')) ? `${ESCAPES}+` : ESCAPES
    for (const type of types) {
      const [character, digits, length] = NEEDS[type]
      marked += character
      if (digits > 0) this.#numbers.push([digits, length])
    }
    for (const one of marked) this.#weights[one.charCodeAt(0)] = MARKED
  }

  areIn(text: string, start: number, end: number): boolean {
    let digits = 0
    for (let i = start; i < end; i++) {
      const code = text.charCodeAt(i)
      const weight = code < 128 ? this.#weights[code]! : MARKED
      if (weight === MARKED) return true
      digits += weight
    }
    for (let i = 0; digits > 0 && i < this.#numbers.length; i++) {
      if (digits >= this.#numbers[i]![0] && end - start >= this.#numbers[i]![1]) return true
    }
    return false
  }
}

/** Names and types of an area's rules. */
interface Searched {
  readonly signs: SuspectSigns
  nextName(text: string, from: number): number
}

/**
 * Tells which parts of a text name and type rules may match. Most parts are ruled out by their characters, which saves
 * decoding them and searching for each type.
 */
export class Suspects {
  readonly #text: string
  readonly #rules: Searched
  // No name starts between these positions.
  #from = 0
  #nextName = -1

  constructor(text: string, rules: Searched) {
    this.#text = text
    this.#rules = rules
  }

  /** Returns false if no rule can match this name or value. */
  include(start: number, end: number): boolean {
    if (start >= end) return false
    const first = this.#text.charCodeAt(start)
    if (first === PLUS || mayBeStructure(first)) return true
    if (this.#rules.signs.areIn(this.#text, start, end)) return true
    if (start < this.#from || start > this.#nextName) {
      this.#from = start
      this.#nextName = this.#rules.nextName(this.#text, start)
    }
    return this.#nextName < end
  }
}

/** Returns true if a text with this first character may be structured. Only whitespace may precede its first bracket. */
export function mayBeStructure(first: number): boolean {
  return (
    first === 0x7b || first === 0x5b || first === 0x3c || first <= 32 || first === 0xfeff || first === 0xa0
  )
}
