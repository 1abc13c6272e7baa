import { consoleLine } from './console-format.js'

/** Severity of an entry. */
export type LogLevel = 'info' | 'warn' | 'error'

/** Format of entries: JSON for programs, or readable lines for a terminal. */
export type LogFormat = 'json' | 'console'

/** Fields of an entry: JSON values, never secrets. */
export type LogFields = Readonly<Record<string, unknown>>

/** Reports an event to the operator. */
export type Report = (event: string, fields: LogFields) => void

/**
 * The log for operators: one JSON object per line, `{"time","level","event",...}`, or readable lines on a
 * terminal. It is not the traffic log.
 */
export interface OperationLog {
  info(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  error(event: string, fields?: LogFields): void
}

/** Options of an operation log. By default it writes to stderr. */
export interface OperationLogOptions {
  readonly write?: (line: string) => void
  readonly now?: () => number
  /**
   * Maximum number of entries per event and second. The number suppressed is reported with the next entry.
   */
  readonly perSecond?: number
  /**
   * Format. Defaults to LOG_FORMAT_ENV, otherwise `console` on a terminal. With `write`, the default is JSON.
   */
  readonly format?: LogFormat
  /** Fields added to every entry, such as `{ worker: 2 }`. */
  readonly fields?: LogFields
}

/** The current second of an event. */
interface Window {
  startMs: number
  written: number
  suppressed: number
}

/** Environment variable for the format: `json` or `console`. Workers inherit it from the supervisor. */
export const LOG_FORMAT_ENV = 'GW_LOG_FORMAT'

/** Maximum number of events. They are constants in the code; the limit only guards against mistakes. */
const MAX_EVENTS = 512
const DEFAULT_PER_SECOND = 50
const WINDOW_MS = 1000

/**
 * Creates an operation log. A flood of one event is cut, so that it cannot fill the disk, and its size is
 * reported.
 */
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

/** Returns the fields of an error: its message, those of its causes, and the stack. */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { message: String(error) }
  const causes: string[] = []
  for (let cause = error.cause; cause instanceof Error && causes.length < 8; cause = cause.cause)
    causes.push(cause.message)
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
  // A clock that was set back also starts a window; otherwise the event would be suppressed until it catches
  // up.
  if (time - known.startMs >= WINDOW_MS || time < known.startMs) {
    known.startMs = time
    known.written = 0
  }
  return known
}

/** Formats an entry. One that JSON refuses (a cycle, a bigint) must not crash the process. */
function line(entry: LogFields, format: LogFormat): string {
  try {
    return format === 'console' ? consoleLine(entry, hasColors()) : `${JSON.stringify(entry)}\n`
  } catch {
    return `${JSON.stringify({ time: entry['time'], level: entry['level'], event: entry['event'] })}\n`
  }
}

/** Returns the format set by LOG_FORMAT_ENV; otherwise readable lines on a terminal and JSON elsewhere. */
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
