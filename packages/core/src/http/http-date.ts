const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
/** The three date formats of RFC 9110 section 5.6.7. Day and month names are case-insensitive. */
const IMF = /^[a-z]{3}, (\d{2}) ([a-z]{3}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) gmt$/i
const RFC850 = /^[a-z]{6,9}, (\d{2})-([a-z]{3})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) gmt$/i
const ASCTIME = /^[a-z]{3} ([a-z]{3}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/i
const HALF_CENTURY = 50

/**
 * Parses an HTTP date (RFC 9110 section 5.6.7) to milliseconds since the epoch. Returns null if the text is
 * not a date.
 */
export function httpDate(text: string | null): number | null {
  if (text === null) return null
  const imf = IMF.exec(text)
  if (imf !== null) return time(imf[3]!, imf[2]!, imf[1]!, imf.slice(4))
  const old = RFC850.exec(text)
  if (old !== null) return time(String(fullYear(Number(old[3]))), old[2]!, old[1]!, old.slice(4))
  const asctime = ASCTIME.exec(text)
  return asctime === null ? null : time(asctime[6]!, asctime[1]!, asctime[2]!, asctime.slice(3, 6))
}

/** Interprets a two-digit year that would be more than 50 years in the future as a year in the past. */
function fullYear(short: number): number {
  const now = new Date().getUTCFullYear()
  const year = now - (now % 100) + short
  return year > now + HALF_CENTURY ? year - 100 : year
}

function time(year: string, month: string, day: string, clock: readonly string[]): number | null {
  const monthIndex = MONTHS.indexOf(month.toLowerCase())
  const [hours, minutes, seconds] = clock.map(Number) as [number, number, number]
  if (monthIndex < 0 || hours > 23 || minutes > 59 || seconds > 60) return null
  const date = new Date(0)
  date.setUTCFullYear(Number(year), monthIndex, Number(day))
  // Date moves an invalid day, such as February 30, to the next month.
  if (date.getUTCMonth() !== monthIndex) return null
  return date.setUTCHours(hours, minutes, seconds, 0)
}

/**
 * Parses Retry-After in seconds or as a date (RFC 9110 section 10.2.3) to milliseconds from now. Returns 0 if
 * it is absent or invalid.
 */
export function retryAfterMs(text: string | undefined, nowMs: number): number {
  if (text === undefined) return 0
  if (/^\d+$/.test(text)) return Number(text) * 1000
  const date = httpDate(text)
  return date === null ? 0 : Math.max(0, date - nowMs)
}
