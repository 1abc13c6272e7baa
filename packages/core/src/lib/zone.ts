/** A time zone. */
export interface Zone {
  /**
   * Returns the difference between local time and UTC at a moment, in milliseconds. @param moment
   * Milliseconds since the epoch.
   */
  offsetAt(moment: number): number
}

/** Date fields in the order of the parameters of `Date.UTC`. */
const FIELDS = ['year', 'month', 'day', 'hour', 'minute', 'second'] as const

/** Returns a time zone by its IANA name. @throws Error if the name is unknown. */
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
    const advice = 'use an IANA name such as Europe/Istanbul'
    throw new Error(`'${timeZone}' is not a time zone known to this system; ${advice}`, { cause })
  }
}
