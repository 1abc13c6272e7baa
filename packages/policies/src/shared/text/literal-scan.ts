/** Transitions of an Aho-Corasick automaton, and the literals found in each state. */
interface Automaton {
  readonly next: Int32Array
  /** 1 for states in which a literal is found. Most have none. */
  readonly isFinal: Uint8Array
  readonly found: readonly (readonly number[])[]
}

const ASCII = 128
const UPPER_A = 65
const UPPER_Z = 90
const TO_LOWER = 32
/** Characters that case-insensitive expressions treat as `s` and `k` (Unicode simple case folding). */
const LONG_S = 0x17f
const KELVIN = 0x212a

/**
 * Finds which of many literals occur in a text, ignoring ASCII case, in one pass. It takes about a nanosecond per
 * character for any number of literals (Aho-Corasick with a full transition table):
 *
 *     character ─► class (one for all that no literal has) ─► next[state << shift | class] ─► found[state]
 */
export class LiteralScan {
  readonly #classes = new Uint8Array(ASCII)
  /** Width of a table row as a power of two. */
  readonly #shift: number
  readonly #automaton: Automaton

  /** Builds the automaton. @param literals non-empty texts of lower-case ASCII. */
  constructor(literals: readonly string[]) {
    const alphabet = [...new Set(literals.join(''))]
    alphabet.forEach((character, i) => {
      this.#classes[character.charCodeAt(0)] = i + 1
    })
    for (let code = UPPER_A; code <= UPPER_Z; code++) this.#classes[code] = this.#classes[code + TO_LOWER]!
    this.#shift = Math.ceil(Math.log2(alphabet.length + 1))
    this.#automaton = automatonOf(literals, this.#classes, this.#shift)
  }

  /** Calls `onFound` at least once with the index of each literal that occurs. */
  scan(text: string, onFound: (literal: number) => void): void {
    const { next, isFinal, found } = this.#automaton
    const classes = this.#classes
    const shift = this.#shift
    let state = 0
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      state = next[(state << shift) | (code < ASCII ? classes[code]! : this.#foreignClass(code))]!
      if (isFinal[state] === 1) found[state]!.forEach(onFound)
    }
  }

  #foreignClass(code: number): number {
    if (code === LONG_S) return this.#classes[115]!
    return code === KELVIN ? this.#classes[107]! : 0
  }
}

function automatonOf(literals: readonly string[], classes: Uint8Array, shift: number): Automaton {
  const most = literals.reduce((sum, literal) => sum + literal.length, 1)
  const next = new Int32Array(most << shift)
  const found: number[][] = [[]]
  for (const [number, literal] of literals.entries()) {
    let state = 0
    for (let i = 0; i < literal.length; i++) {
      const at = (state << shift) | classes[literal.charCodeAt(i)]!
      if (next[at] === 0) {
        next[at] = found.length
        found.push([])
      }
      state = next[at]!
    }
    found[state]!.push(number)
  }
  completeTransitions(next, found, 1 << shift)
  return { next, found, isFinal: Uint8Array.from(found, (numbers) => (numbers.length === 0 ? 0 : 1)) }
}

/** Adds the transitions to the longest suffix that is also a prefix of a literal. States are visited by depth. */
function completeTransitions(next: Int32Array, found: number[][], width: number): void {
  const shorterOf = new Int32Array(found.length)
  const queue = [...next.subarray(0, width)].filter((state) => state !== 0)
  for (const state of queue) {
    const shorter = shorterOf[state]!
    found[state]!.push(...found[shorter]!)
    for (let i = 0; i < width; i++) {
      const at = state * width + i
      const child = next[at]!
      const instead = next[shorter * width + i]!
      if (child === 0) next[at] = instead
      else {
        shorterOf[child] = instead
        queue.push(child)
      }
    }
  }
}
