/**
 * Formats a duration in milliseconds with up to three decimals as a JSON number. Returns '0' if it is not
 * positive.
 */
export function millisText(durationMs: number): string {
  const micros = Math.round(durationMs * 1000)
  return micros > 0 && micros < Number.MAX_SAFE_INTEGER ? String(micros / 1000) : '0'
}
