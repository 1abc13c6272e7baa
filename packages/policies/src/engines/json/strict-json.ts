import { UnreadableBody } from '@sluice/core'
import { jsonOfBytes } from './view.js'

/** A JSON object whose names are all different. Read its members with `memberOf`: names come from outside. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Deepest nesting that is read; headers and claims have two or three levels. */
const READING = { maxDepth: 32, duplicateKeys: 'reject' } as const

/**
 * The object that bytes spell. Null for bytes that are not UTF-8, not JSON, no object, nested too deep, or name a
 * member twice: two readers could take such a text for two things (RFC 7515 section 4, RFC 7519 section 4).
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

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The member of that name; undefined when there is none. */
export function memberOf(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
