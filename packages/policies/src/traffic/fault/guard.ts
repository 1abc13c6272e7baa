import { createHash, timingSafeEqual } from 'node:crypto'
import { type Exchange, headerValue, removeHeader } from '@sluice/core'
import { fieldName } from '../../shared/message/field-name.js'
import type { FaultConfig } from './schema.js'

/** Minimum length of the guard value, in characters. Shorter values could be guessed. */
const MIN_LENGTH = 16

/** Compiles the guard, or returns null if there is none. @throws Error if the value is too short. */
export function compileGuard(guard: FaultConfig['guard']): ((x: Exchange) => boolean) | null {
  if (guard === undefined) return null
  const name = fieldName('request', guard.header)
  if (guard.value.length < MIN_LENGTH)
    throw new Error(`the value of the guard is shorter than ${MIN_LENGTH} characters; use a longer one`)
  const expected = digest(guard.value)
  return (x) => {
    const value = headerValue(x.headers, name)
    if (value === null) return false
    removeHeader(x.headers, name)
    return timingSafeEqual(digest(value), expected)
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
