/** A parsed record. Access its fields by dotted path with `recordValue`. */
export type TrafficRecord = Readonly<Record<string, unknown>>

/** A line of the traffic log. */
export interface RecordView {
  readonly record: TrafficRecord
  /** The line as written, without the newline. */
  readonly line: string
  /** `@timestamp` in milliseconds since the epoch, or 0 if it is missing. */
  readonly timeMs: number
}

/** Parses a line. Returns null if it is not a JSON object, for example because it was truncated. */
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

/** Returns the value at a dotted path such as `res.status`, or undefined. */
export function recordValue(record: TrafficRecord, path: string): unknown {
  let value: unknown = record
  for (const name of path.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/**
 * Returns all values at a dotted path such as `policies.id`, including those of every list item on the way.
 */
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
