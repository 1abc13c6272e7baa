/** An object in a record. */
export type Members = Record<string, unknown>

/** Characters other than printable ASCII. */
const BEYOND_ASCII = /[\u007f-\uffff]/g

/** Returns true if a value is an object with members. */
export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Formats a value as JSON in printable ASCII, like all lines of the traffic log. */
export function asciiJson(value: unknown): string {
  const json = JSON.stringify(value)
  return json.replace(BEYOND_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
