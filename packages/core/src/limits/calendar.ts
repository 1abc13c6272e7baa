import type { Zone } from '../lib/zone.js'

/** Calendar periods. A week begins on Monday (ISO 8601). */
export const CALENDAR_PERIODS = ['hour', 'day', 'week', 'month'] as const

/** A calendar period. */
export type CalendarPeriod = (typeof CALENDAR_PERIODS)[number]

/** Half-open time span in milliseconds since the epoch. `endMs` is the start of the next span. */
export interface Span {
  readonly beginMs: number
  readonly endMs: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Larger than any clock change, and shorter than the time between two changes. */
const NEARBY_MS = 12 * HOUR_MS

/**
 * Returns the calendar period that contains a moment, in local time. Days may have 23 or 25 hours, months 28
 * to 31 days.
 */
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

/**
 * Converts local time to a moment. For a time that occurs twice, returns the first. For a time that is
 * skipped, returns the moment of the change.
 */
function momentOf(wallMs: number, zone: Zone): number {
  const near = wallMs - zone.offsetAt(wallMs)
  const before = zone.offsetAt(near - NEARBY_MS)
  const after = zone.offsetAt(near + NEARBY_MS)
  if (zone.offsetAt(wallMs - before) === before) return wallMs - before
  return zone.offsetAt(wallMs - after) === after ? wallMs - after : wallMs - before
}
