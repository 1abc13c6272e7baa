/** An object in a record. */
export type Members = Record<string, unknown>

/** Characters other than printable ASCII. */
const BEYOND_ASCII = /[\u007f-\uffff]/g

/** Returns true if a value is an object with members. */
export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the members of an object in a record, none if it is absent. @throws Error for another value. */
export function membersIn(value: unknown): Members {
  if (value === undefined || value === null) return {}
  if (isMembers(value)) return value
  throw new Error('an object is expected')
}

/** Returns a value as text. @throws Error for an object or list. */
export function textIn(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new Error('a text is expected')
}

/** Formats a value as JSON in printable ASCII, like all lines of the traffic log. */
export function asciiJson(value: unknown): string {
  const json = JSON.stringify(value)
  return json.replace(BEYOND_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
