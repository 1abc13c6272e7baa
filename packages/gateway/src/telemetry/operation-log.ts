import { consoleLine } from './console-format.js'

/** How bad an entry is. */
export type LogLevel = 'info' | 'warn' | 'error'

/** How an entry is written: JSON for programs, or a line for people. */
export type LogFormat = 'json' | 'console'

/** The facts of an entry; values that JSON can hold, and never a secret. */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * What operators read: one JSON object a line, `{"time","level","event",...}`, or lines for people at a terminal. Not
 * the traffic log.
 */
export interface OperationLog {
  info(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  error(event: string, fields?: LogFields): void
}

/** Settings of an operation log; the defaults write to stderr. */
export interface OperationLogOptions {
  readonly write?: (line: string) => void
  readonly now?: () => number
  /** Entries of one event per second; what is above is counted and reported with the next entry. */
  readonly perSecond?: number
  /** Default: that of LOG_FORMAT_ENV, else `console` where stderr is a terminal; JSON where `write` is given. */
  readonly format?: LogFormat
  /** Fields of every entry, `{ worker: 2 }`. */
  readonly fields?: LogFields
}

/** An event's current second. */
interface Window {
  startMs: number
  written: number
  suppressed: number
}

/** `json` or `console`: how the operation log is written; the workers inherit it from the supervisor. */
export const LOG_FORMAT_ENV = 'GW_LOG_FORMAT'

/** Events are constants of the code; a bound keeps a mistake from growing the table. */
const MAX_EVENTS = 512
const DEFAULT_PER_SECOND = 50
const WINDOW_MS = 1000

/** Creates an operation log. A flood of one event cannot fill the disk: it is cut and its size is reported. */
export function createOperationLog(options: OperationLogOptions = {}): OperationLog {
  const { write = writeStderr, now = Date.now, perSecond = DEFAULT_PER_SECOND, fields: common = {} } = options
  const { format = options.write === undefined ? usualFormat() : 'json' } = options
  const windows = new Map<string, Window>()

  const entry = (level: LogLevel, event: string, fields: LogFields): void => {
    const time = now()
    const window = windowOf(windows, event, time)
    if (window.written >= perSecond) {
      window.suppressed++
      return
    }
    window.written++
    const suppressed = window.suppressed
    window.suppressed = 0
    const head = { time: new Date(time).toISOString(), level, event }
    write(line({ ...head, ...common, ...fields, ...(suppressed > 0 ? { suppressed } : {}) }, format))
  }

  return {
    info: (event, fields = {}) => entry('info', event, fields),
    warn: (event, fields = {}) => entry('warn', event, fields),
    error: (event, fields = {}) => entry('error', event, fields),
  }
}

/** An error as fields: its message, those of its causes, and the stack. */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { message: String(error) }
  const causes: string[] = []
  for (let cause = error.cause; cause instanceof Error && causes.length < 8; cause = cause.cause) {
    causes.push(cause.message)
  }
  return { message: error.message, ...(causes.length > 0 ? { causes } : {}), stack: error.stack }
}

function windowOf(windows: Map<string, Window>, event: string, time: number): Window {
  const known = windows.get(event)
  if (known === undefined) {
    if (windows.size >= MAX_EVENTS) windows.clear()
    const fresh = { startMs: time, written: 0, suppressed: 0 }
    windows.set(event, fresh)
    return fresh
  }
  // A clock that was set back begins a window too; otherwise the event would stay silent until it catches up.
  if (time - known.startMs >= WINDOW_MS || time < known.startMs) {
    known.startMs = time
    known.written = 0
  }
  return known
}

/** An entry that JSON refuses (a cycle, a bigint) must not take the process down with it. */
function line(entry: LogFields, format: LogFormat): string {
  try {
    return format === 'console' ? consoleLine(entry, hasColors()) : `${JSON.stringify(entry)}\n`
  } catch {
    return `${JSON.stringify({ time: entry['time'], level: entry['level'], event: entry['event'] })}\n`
  }
}

/** LOG_FORMAT_ENV has the last word; without it a terminal gets lines for people, and everything else JSON. */
function usualFormat(): LogFormat {
  const format = process.env[LOG_FORMAT_ENV]
  if (format === 'console' || format === 'json') return format
  return process.stderr.isTTY ? 'console' : 'json'
}

function hasColors(): boolean {
  return process.stderr.isTTY && (process.env['NO_COLOR'] ?? '') === ''
}

function writeStderr(text: string): void {
  process.stderr.write(text)
}
