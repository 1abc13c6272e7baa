import { createHash } from 'node:crypto'
import { type HttpAnswer, headerCount, headerJoined } from '@sluice/core'
import { CacheControl } from '../message/cache-control.js'

/** Returns true if an answer must not be shared: it sets a cookie, or its Cache-Control forbids sharing. */
export function isCallerSpecific({ headers }: HttpAnswer): boolean {
  const control = new CacheControl(headerJoined(headers, 'cache-control'))
  const isPrivate = control.has('no-store') || control.has('no-cache') || control.has('private')
  return isPrivate || headerCount(headers, 'set-cookie') > 0
}

/** Returns a digest of key parts that reveals none of them. JSON keeps the parts distinct. */
export function digestOf(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}
