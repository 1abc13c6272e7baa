import { UnreadableBody } from '@sluice/core'
import { jsonOfBytes } from './view.js'

/** A JSON object without duplicate names. Read its members with `memberOf`, because the names come from outside. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Reading options. Headers and claims nest two or three levels deep. */
const READING = { maxDepth: 32, duplicateKeys: 'refuse' } as const

/**
 * Parses bytes as a JSON object. Returns null if they are not UTF-8, not JSON, not an object, nested too deeply or
 * have a duplicate name. Two readers could interpret duplicates differently (RFC 7515 section 4, RFC 7519 section 4).
 */
export function parseStrictObject(bytes: Uint8Array): JsonObject | null {
  try {
    const { value } = jsonOfBytes(bytes, READING)
    return isJsonObject(value) ? value : null
  } catch (error) {
    if (error instanceof UnreadableBody) return null
    throw error
  }
}

/** Returns true if a value is a JSON object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the member with a name, or undefined. */
export function memberOf(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
