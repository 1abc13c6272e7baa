import { createHash } from 'node:crypto'
import { type Exchange, type Expression, type HttpAnswer, headerCount, headerJoined } from '@sluice/core'
import { CacheControl } from '../message/cache-control.js'

/** Returns true if an answer must not be shared: it sets a cookie, or its Cache-Control forbids sharing. */
export function isCallerSpecific({ headers }: HttpAnswer): boolean {
  const control = new CacheControl(headerJoined(headers, 'cache-control'))
  const isPrivate = control.has('no-store') || control.has('no-cache') || control.has('private')
  return isPrivate || headerCount(headers, 'set-cookie') > 0
}

/** Returns the lifetime of an answer in milliseconds: its `max-age`, at most and by default `maxMs`. */
export function answerTtlMs({ headers }: HttpAnswer, maxMs: number): number {
  const seconds = new CacheControl(headerJoined(headers, 'cache-control')).seconds('max-age')
  return seconds === null ? maxMs : Math.min(maxMs, seconds * 1000)
}

/** Returns a digest of key parts that reveals none of them. JSON keeps the parts distinct. */
export function digestOf(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

/**
 * Returns the digest of the values of expressions, or null if one of them cannot be evaluated. A value that is not
 * found is part of the key like any other.
 * @param more other parts of the key.
 */
export function expressionKey(
  parts: readonly Expression[],
  x: Exchange,
  ...more: readonly unknown[]
): string | null {
  try {
    return digestOf(...more, ...parts.map((part) => part.value(x)))
  } catch {
    return null
  }
}
