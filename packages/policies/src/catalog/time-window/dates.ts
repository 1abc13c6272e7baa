/** A day of the calendar: the number of days since 1970-01-01. */
export type Day = number

export const DAY_MS = 86_400_000

const PART = /^(?:(\d{4})-)?(\d{2})-(\d{2})$/
/** A year that has every day, so that the 29th of February can be one of every year. */
const LEAP_YEAR = 2000

/** Whether a day is the one of a text such as `2030-12-24`, `12-24` or `12-24..01-02`. @throws Error */
export function dayTest(text: string): (day: Day) => boolean {
  const [first, last = first] = text.split('..') as [string, string?]
  const from = partOf(first, text)
  const to = partOf(last, text)
  if (from.isYearly !== to.isYearly) {
    throw new Error(`'${text}' is a range from a date with a year to one without; write both alike`)
  }
  if (from.isYearly) return yearlyTest(from.day, to.day)
  if (from.day > to.day) throw new Error(`'${text}' ends before it begins; exchange the dates`)
  return (day) => day >= from.day && day <= to.day
}

/** Monday is 0. The first of January 1970 was a Thursday. */
export function weekdayOf(day: Day): number {
  return (((day + 3) % 7) + 7) % 7
}

/** The days are those of the leap year; a range may go over the end of the year. */
function yearlyTest(from: Day, to: Day): (day: Day) => boolean {
  return (day) => {
    const date = new Date(day * DAY_MS)
    const same = dayOf(LEAP_YEAR, date.getUTCMonth(), date.getUTCDate())
    return from <= to ? same >= from && same <= to : same >= from || same <= to
  }
}

function partOf(part: string, text: string): { readonly day: Day; readonly isYearly: boolean } {
  const match = PART.exec(part)
  if (match === null) throw new Error(`'${text}' is not a date; write 2030-12-24, 12-24 or a range of those`)
  const year = match[1] === undefined ? LEAP_YEAR : Number(match[1])
  const day = dayOf(year, Number(match[2]) - 1, Number(match[3]))
  if (!new Date(day * DAY_MS).toISOString().includes(`-${match[2]}-${match[3]}T`)) {
    throw new Error(`'${text}' names a day that the calendar does not have`)
  }
  return { day, isYearly: match[1] === undefined }
}

function dayOf(year: number, month: number, date: number): Day {
  return Math.floor(Date.UTC(year, month, date) / DAY_MS)
}
