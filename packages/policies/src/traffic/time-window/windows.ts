import { compileDayTest, DAY_MS, type Day, weekdayOf } from './dates.js'
import type { WindowConfig } from './schema.js'

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

/** Windows in local calendar time, in milliseconds without a time zone. */
export interface Windows {
  /** Returns true if a window contains the time. */
  has(local: number): boolean
  /** Returns the next time at which `has` may change. Midnight at the latest. */
  nextEdge(local: number): number
}

interface Window {
  /** Returns true if the window begins on this day. */
  isOn(day: Day): boolean
  /** Start in milliseconds from midnight. */
  readonly from: number
  readonly to: number
}

/** @throws Error for dates that do not exist. */
export function compileWindows(configs: readonly WindowConfig[]): Windows {
  const windows = configs.map(compileWindow)
  const edges = [...new Set([...windows.flatMap(({ from, to }) => [from, to]), DAY_MS])].sort((a, b) => a - b)
  return {
    has: (local) => {
      const day = Math.floor(local / DAY_MS)
      const time = local - day * DAY_MS
      return windows.some((window) => contains(window, day, time))
    },
    nextEdge: (local) => {
      const midnight = Math.floor(local / DAY_MS) * DAY_MS
      return midnight + edges.find((edge) => midnight + edge > local)!
    },
  }
}

function contains({ isOn, from, to }: Window, day: Day, time: number): boolean {
  if (from < to) return time >= from && time < to && isOn(day)
  return (time >= from && isOn(day)) || (time < to && isOn(day - 1))
}

function compileWindow(config: WindowConfig, i: number): Window {
  const { days, dates, from = '00:00', to = '24:00' } = config
  const isWeekday = WEEKDAYS.map((name) => days === undefined || days.includes(name))
  const tests = dates?.map(compileDayTest)
  if (from.startsWith('24'))
    throw new Error(`window ${i + 1}: 'from' cannot be 24:00: use 00:00 of the next day`)
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
