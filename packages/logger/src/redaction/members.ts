/** An object of a record. */
export type Members = Record<string, unknown>

/** What would not be printable ASCII. */
const BEYOND_ASCII = /[\u007f-\uffff]/g

/** Whether a value is an object with members. */
export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** JSON in printable ASCII, as all lines of the traffic log are. */
export function asciiJson(record: object): string {
  const json = JSON.stringify(record)
  return json.replace(BEYOND_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
