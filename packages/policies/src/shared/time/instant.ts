const INSTANT = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/

/**
 * Parses a text such as `2030-01-31` or `2030-01-31T12:00:00Z` to milliseconds since the epoch. A date without a time
 * means the start of that day in UTC. A time needs its offset.
 * @throws RangeError for an invalid date or time.
 */
export function parseInstant(text: string): number {
  const match = INSTANT.exec(text)
  const instant = match === null ? Number.NaN : Date.parse(text)
  if (Number.isNaN(instant) || !isDate(match![1]!))
    throw new RangeError(`'${text}' is not a valid date or time; use 2030-01-31 or 2030-01-31T12:00:00Z`)
  return instant
}

/** Returns true for a valid date. `Date` alone would read the 31st of February as the 3rd of March. */
function isDate(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}
