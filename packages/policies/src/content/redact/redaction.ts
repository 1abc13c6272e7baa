import { createHmac } from 'node:crypto'
import { MASK, partlyMasked } from '@sluice/core'
import type { RedactRule } from './schema.js'

/** Returns the replacement of a value, or null to delete it. */
export type Redaction = (value: string) => string | null

/** Compiles the action of a rule. @throws Error if it hashes without a secret. */
export function redactionOf(rule: RedactRule, secret: string | undefined): Redaction {
  const { action = 'mask', keepFirst = 0, keepLast = 0 } = rule
  if (action === 'delete') return () => null
  if (action === 'mask') {
    // Masks a value completely if more characters would be shown than hidden.
    const shape = { keepFirst, keepLast, minHidden: keepFirst + keepLast }
    return (value) => partlyMasked(value, shape) ?? MASK
  }
  if (secret === undefined) throw new Error("'hash' needs 'secret', so that values cannot be guessed")
  return (value) => `hmac-sha256:${createHmac('sha256', secret).update(value).digest('base64url')}`
}
