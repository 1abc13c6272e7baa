/** A calendar day as the number of days since 1970-01-01. */
export type Day = number

/** Length of a day in milliseconds. */
export const DAY_MS = 86_400_000

const PART = /^(?:(\d{4})-)?(\d{2})-(\d{2})$/
/** A leap year, so that February 29 can be a yearly date. */
const LEAP_YEAR = 2000

/** Returns a test for the days of a text such as `2030-12-24`, `12-24` or `12-24..01-02`. @throws Error */
export function compileDayTest(text: string): (day: Day) => boolean {
  const [first, last = first] = text.split('..') as [string, string?]
  const from = partOf(first, text)
  const to = partOf(last, text)
  if (from.isYearly !== to.isYearly)
    throw new Error(`'${text}' mixes a date with a year and one without: use the same form for both`)
  if (from.isYearly) return yearlyTest(from.day, to.day)
  if (from.day > to.day) throw new Error(`'${text}' ends before it begins: swap the dates`)
  return (day) => day >= from.day && day <= to.day
}

/** Returns the weekday, with Monday as 0. January 1, 1970 was a Thursday. */
export function weekdayOf(day: Day): number {
  return (((day + 3) % 7) + 7) % 7
}

/** Returns a test for yearly dates, given as days of the leap year. A range may cross the end of the year. */
function yearlyTest(from: Day, to: Day): (day: Day) => boolean {
  return (day) => {
    const date = new Date(day * DAY_MS)
    const same = dayOf(LEAP_YEAR, date.getUTCMonth(), date.getUTCDate())
    return from <= to ? same >= from && same <= to : same >= from || same <= to
  }
}

function partOf(part: string, text: string): { readonly day: Day; readonly isYearly: boolean } {
  const match = PART.exec(part)
  if (match === null) throw new Error(`'${text}' is not a date: use 2030-12-24, 12-24 or a range of these`)
  const year = match[1] === undefined ? LEAP_YEAR : Number(match[1])
  const day = dayOf(year, Number(match[2]) - 1, Number(match[3]))
  if (!new Date(day * DAY_MS).toISOString().includes(`-${match[2]}-${match[3]}T`))
    throw new Error(`'${text}' is not a day of the calendar`)
  return { day, isYearly: match[1] === undefined }
}

function dayOf(year: number, month: number, date: number): Day {
  return Math.floor(Date.UTC(year, month, date) / DAY_MS)
}
