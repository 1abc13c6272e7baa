import { createHmac } from 'node:crypto'
import { MASK, partlyMasked } from '@sluice/core'
import type { RedactRule } from './schema.js'

/** What stands where a value was; null: nothing. */
export type Redaction = (value: string) => string | null

/** What a rule does to a value. @throws Error when it hashes and there is no secret. */
export function redactionOf(rule: RedactRule, secret: string | undefined): Redaction {
  const { action = 'mask', keepFirst = 0, keepLast = 0 } = rule
  if (action === 'delete') return () => null
  if (action === 'mask') {
    // A value that would show more than it hides shows nothing.
    const shape = { keepFirst, keepLast, leastHidden: keepFirst + keepLast }
    return (value) => partlyMasked(value, shape) ?? MASK
  }
  if (secret === undefined) throw new Error("'hash' needs 'secret', so that nobody can try values out")
  return (value) => `hmac-sha256:${createHmac('sha256', secret).update(value).digest('base64url')}`
}
