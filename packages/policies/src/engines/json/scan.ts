const QUOTE = 34
const BACKSLASH = 92
const ZERO = 48
const NINE = 57

/** What bytes mean outside of strings; 0: nothing that is counted. One load a byte instead of five comparisons. */
const MEANING = new Uint8Array(256)
const STRING = 1
const MEMBER = 2
const OPEN = 3
const CLOSE = 4
MEANING['"'.charCodeAt(0)] = STRING
MEANING[':'.charCodeAt(0)] = MEMBER
const EXPONENT = 5
for (const letter of 'eE') MEANING[letter.charCodeAt(0)] = EXPONENT
for (const bracket of '[{') MEANING[bracket.charCodeAt(0)] = OPEN
for (const bracket of ']}') MEANING[bracket.charCodeAt(0)] = CLOSE

/** What the bytes of a JSON text show before they are parsed. */
export interface JsonScan {
  /** How deep arrays and objects nest; above `maxDepth` the scan ended there. */
  readonly depth: number
  /** Members of all objects, counted as the text has them: one of each duplicate is lost by the parser. */
  readonly members: number
  /** A number has an exponent or many digits, so that it may be greater than any that can be kept. */
  readonly hasLargeNumber: boolean
}

/**
 * Looks over a JSON text without parsing it; of a text that is not JSON the answer means nothing, but comes as fast.
 * @param maxDepth where counting ends.
 */
export function scanJson(bytes: Uint8Array, maxDepth: number): JsonScan {
  let depth = 0
  let deepest = 0
  let members = 0
  let hasLargeNumber = hasManyDigits(bytes)
  for (let i = 0; i < bytes.length; i++) {
    const meaning = MEANING[bytes[i]!]!
    if (meaning === 0) continue
    if (meaning === STRING) i = endOfString(bytes, i + 1)
    else if (meaning === MEMBER) members++
    else if (meaning === CLOSE) depth--
    else if (meaning === EXPONENT) {
      // The letter of `true` and `false` stands after another one.
      if (bytes[i - 1]! <= NINE) hasLargeNumber = true
    } else if (++depth > deepest) {
      deepest = depth
      if (deepest > maxDepth) break
    }
  }
  return { depth: deepest, members, hasLargeNumber }
}

/** Without an exponent a number needs 309 digits to be too large: three of these positions in a row are within them. */
const DIGITS_STEP = 100

function hasManyDigits(bytes: Uint8Array): boolean {
  let run = 0
  for (let i = 0; i < bytes.length; i += DIGITS_STEP) {
    const byte = bytes[i]!
    run = byte >= ZERO && byte <= NINE ? run + 1 : 0
    if (run === 3) return true
  }
  return false
}

/** Where the string ends that began before `from`. */
function endOfString(bytes: Uint8Array, from: number): number {
  let i = from
  for (; i < bytes.length; i++) {
    const byte = bytes[i]!
    if (byte === QUOTE) break
    if (byte === BACKSLASH) i++
  }
  return i
}
