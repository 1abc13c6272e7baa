/** A record as it was parsed; fields are reached by dotted paths, see recordValue. */
export type TrafficRecord = Readonly<Record<string, unknown>>

/** One line of the traffic log. */
export interface RecordView {
  readonly record: TrafficRecord
  /** The line as it was written, without the newline. */
  readonly line: string
  /** `@timestamp`, ms since the epoch; 0 when it has none. */
  readonly timeMs: number
}

/** Parses a line; null when it is not a JSON object, as a line that was cut is not. */
export function parseRecord(line: string): RecordView | null {
  let record: unknown
  try {
    record = JSON.parse(line)
  } catch {
    return null
  }
  if (!isObject(record)) return null
  const timeMs = Date.parse(String(record['@timestamp']))
  return { record, line, timeMs: Number.isNaN(timeMs) ? 0 : timeMs }
}

/** The value at a dotted path such as `res.status`, or undefined. */
export function recordValue(record: TrafficRecord, path: string): unknown {
  let value: unknown = record
  for (const name of path.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** All values at a dotted path, of each item where a list is on the way, such as `policies.id`. */
export function recordValues(record: TrafficRecord, path: string): readonly unknown[] {
  let values: readonly unknown[] = [record]
  for (const name of path.split('.')) {
    values = values.flatMap((value) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : []))
    if (values.length === 0) return values
  }
  return values
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
