import { DAY_MS, type Day, dayTest, weekdayOf } from './dates.js'
import type { WindowConfig } from './schema.js'

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

/** Windows on the wall's calendar; times are ms of a calendar without zones. */
export interface Windows {
  /** Whether one of them holds the time. */
  has(wall: number): boolean
  /** The next time at which `has` may have another answer; midnight at the latest. */
  nextEdge(wall: number): number
}

interface Window {
  /** It begins on this day. */
  isOn(day: Day): boolean
  /** Ms from midnight. */
  readonly from: number
  readonly to: number
}

/** @throws Error for dates that the calendar does not have. */
export function compileWindows(configs: readonly WindowConfig[]): Windows {
  const windows = configs.map(compileWindow)
  const edges = [...new Set([...windows.flatMap(({ from, to }) => [from, to]), DAY_MS])].sort((a, b) => a - b)
  return {
    has: (wall) => {
      const day = Math.floor(wall / DAY_MS)
      const time = wall - day * DAY_MS
      return windows.some((window) => holds(window, day, time))
    },
    nextEdge: (wall) => {
      const midnight = Math.floor(wall / DAY_MS) * DAY_MS
      return midnight + edges.find((edge) => midnight + edge > wall)!
    },
  }
}

function holds({ isOn, from, to }: Window, day: Day, time: number): boolean {
  if (from < to) return time >= from && time < to && isOn(day)
  return (time >= from && isOn(day)) || (time < to && isOn(day - 1))
}

function compileWindow(config: WindowConfig, i: number): Window {
  const { days, dates, from = '00:00', to = '24:00' } = config
  const isWeekday = WEEKDAYS.map((name) => days === undefined || days.includes(name))
  const tests = dates?.map(dayTest)
  if (from.startsWith('24')) throw new Error(`window ${i + 1}: 'from' is 24:00; write 00:00 of the next day`)
  return {
    isOn: (day) => isWeekday[weekdayOf(day)]! && (tests === undefined || tests.some((test) => test(day))),
    from: timeOf(from),
    to: timeOf(to),
  }
}

function timeOf(text: string): number {
  const [hours, minutes, seconds = '0'] = text.split(':') as [string, string, string?]
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
}
