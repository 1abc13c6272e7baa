const THREE_DIGITS: readonly string[] = Array.from({ length: 1000 }, (_, i) => String(i).padStart(3, '0'))
/** Decimals of a millisecond without trailing zeros: '', '.001', …, '.1', …, '.999'. */
const FRACTIONS: readonly string[] = THREE_DIGITS.map((digits) =>
  digits === '000' ? '' : '.' + digits.replace(/0+$/, ''),
)
/** The last instant that ISO 8601 writes with a year of four digits, ms since the epoch. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Writes instants as ISO 8601 in UTC with milliseconds. It keeps the text of the last second, which most share. */
export class IsoClock {
  #second = -1
  #prefix = ''

  /** `2026-01-31T23:59:59.123Z` for ms since the epoch; an instant that is out of range becomes the epoch. */
  text(epochMs: number): string {
    const instant = epochMs >= 0 && epochMs <= LAST_MS ? Math.floor(epochMs) : 0
    const second = Math.floor(instant / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#prefix = new Date(second * 1000).toISOString().slice(0, 20)
    }
    return this.#prefix + THREE_DIGITS[instant - second * 1000] + 'Z'
  }
}

/** A duration in ms with up to three decimals, as a JSON number; '0' for what is not a positive duration. */
export function millisText(durationMs: number): string {
  const micros = Math.round(durationMs * 1000)
  if (!(micros > 0 && micros < Number.MAX_SAFE_INTEGER)) return '0'
  const whole = Math.floor(micros / 1000)
  return whole + FRACTIONS[micros - whole * 1000]!
}
