const THREE_DIGITS: readonly string[] = Array.from({ length: 1000 }, (_, i) => String(i).padStart(3, '0'))
/** Decimals of a millisecond without trailing zeros: '', '.001', …, '.1', …, '.999'. */
const FRACTIONS: readonly string[] = THREE_DIGITS.map((digits) =>
  digits === '000' ? '' : '.' + digits.replace(/0+$/, ''),
)
/** Last instant with a four-digit year in ISO 8601, in milliseconds since the epoch. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Formats instants as ISO 8601 in UTC with milliseconds. Caches the text of the last second. */
export class IsoClock {
  #second = -1
  #prefix = ''

  /**
   * Formats milliseconds since the epoch as `2026-01-31T23:59:59.123Z`. An instant out of range becomes the
   * epoch.
   */
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

/**
 * Formats a duration in milliseconds with up to three decimals as a JSON number. Returns '0' if it is not
 * positive.
 */
export function millisText(durationMs: number): string {
  const micros = Math.round(durationMs * 1000)
  if (!(micros > 0 && micros < Number.MAX_SAFE_INTEGER)) return '0'
  const whole = Math.floor(micros / 1000)
  return whole + FRACTIONS[micros - whole * 1000]!
}
