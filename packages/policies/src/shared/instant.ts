const INSTANT = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/

/**
 * The moment a text such as `2030-01-31` or `2030-01-31T12:00:00Z` means, ms since the epoch. A date alone is the
 * beginning of that day in UTC; a time needs its offset.
 * @throws RangeError when it is no such moment.
 */
export function parseInstant(text: string): number {
  const match = INSTANT.exec(text)
  const instant = match === null ? Number.NaN : Date.parse(text)
  if (Number.isNaN(instant) || !isDate(match![1]!)) {
    throw new RangeError(`'${text}' is not a moment; write 2030-01-31 or 2030-01-31T12:00:00Z`)
  }
  return instant
}

/** Whether the calendar has that day; `Date` alone would take the 31st of February for the 3rd of March. */
function isDate(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}
