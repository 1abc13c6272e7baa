/** What clocks on the wall show in a time zone. */
export interface Zone {
  /** What to add to a moment (ms since the epoch) to get the time on the wall, as ms of a calendar without zones. */
  offsetAt(moment: number): number
}

/** The fields of a date in the order in which `Date.UTC` takes them. */
const FIELDS = ['year', 'month', 'day', 'hour', 'minute', 'second'] as const

/** A zone by its IANA name. @throws Error when there is none of that name. */
export function zoneOf(name: string): Zone {
  const format = formatOf(name)
  return {
    offsetAt(moment) {
      const second = Math.floor(moment / 1000) * 1000
      const parts = new Map(format.formatToParts(second).map(({ type, value }) => [type, Number(value)]))
      const [year, month, day, hour, minute, seconds] = FIELDS.map((field) => parts.get(field)!)
      return Date.UTC(year!, month! - 1, day!, hour!, minute!, seconds!) - second
    },
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const number = 'numeric' as const
  const fields = { year: number, month: number, day: number, hour: number, minute: number, second: number }
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, calendar: 'gregory', hourCycle: 'h23', ...fields })
  } catch (cause) {
    const advice = 'write an IANA name such as Europe/Istanbul'
    throw new Error(`'${timeZone}' is not a time zone that this machine knows; ${advice}`, { cause })
  }
}
