import type { Zone } from '../lib/zone.js'

/** Periods of the calendar; a week begins on Monday (ISO 8601). */
export const CALENDAR_PERIODS = ['hour', 'day', 'week', 'month'] as const

/** A period of the calendar. */
export type CalendarPeriod = (typeof CALENDAR_PERIODS)[number]

/** Moments in ms since 1970; the end is the beginning of the next. */
export interface Span {
  readonly beginMs: number
  readonly endMs: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Clocks are changed by less, and not twice in it. */
const NEARBY_MS = 12 * HOUR_MS

/** The period of a moment, by the clocks of a zone: days may have 23 or 25 hours, months 28 to 31 days. */
export function calendarPeriod(nowMs: number, period: CalendarPeriod, zone: Zone): Span {
  const offset = zone.offsetAt(nowMs)
  const wall = new Date(nowMs + offset)
  if (period === 'hour') {
    const beginMs = Math.floor(wall.getTime() / HOUR_MS) * HOUR_MS - offset
    return { beginMs, endMs: beginMs + HOUR_MS }
  }
  const [begin, end] = wallSpan(wall, period)
  return { beginMs: momentOf(begin, zone), endMs: momentOf(end, zone) }
}

function wallSpan(wall: Date, period: Exclude<CalendarPeriod, 'hour'>): readonly [number, number] {
  const [year, month] = [wall.getUTCFullYear(), wall.getUTCMonth()]
  if (period === 'month') return [Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1)]
  const today = Date.UTC(year, month, wall.getUTCDate())
  if (period === 'day') return [today, today + DAY_MS]
  const monday = today - ((wall.getUTCDay() + 6) % 7) * DAY_MS
  return [monday, monday + 7 * DAY_MS]
}

/** When clocks show a time, the first of two; where they skip it, when they do. */
function momentOf(wallMs: number, zone: Zone): number {
  const near = wallMs - zone.offsetAt(wallMs)
  const before = zone.offsetAt(near - NEARBY_MS)
  const after = zone.offsetAt(near + NEARBY_MS)
  if (zone.offsetAt(wallMs - before) === before) return wallMs - before
  return zone.offsetAt(wallMs - after) === after ? wallMs - after : wallMs - before
}
