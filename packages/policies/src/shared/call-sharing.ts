import { createHash } from 'node:crypto'
import { type HttpAnswer, headerCount, headerJoined } from '@sluice/core'
import { CacheControl } from './cache-control.js'

/** Whether an answer is for who has asked alone: it sets a cookie, or its Cache-Control says so. */
export function isForOne({ headers }: HttpAnswer): boolean {
  const control = new CacheControl(headerJoined(headers, 'cache-control'))
  const isPrivate = control.has('no-store') || control.has('no-cache') || control.has('private')
  return isPrivate || headerCount(headers, 'set-cookie') > 0
}

/** Stands for parts in a key that shows none of them; written as JSON, so that no part can look like two. */
export function digestOf(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}
