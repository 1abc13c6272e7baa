import { createHmac } from 'node:crypto'
import type { RedactRule } from './schema.js'

/** What stands where a value was; null: nothing. */
export type Redaction = (value: string) => string | null

const MASK = '***'

/** What a rule does to a value. @throws Error when it hashes and there is no secret. */
export function redactionOf(rule: RedactRule, secret: string | undefined): Redaction {
  const { action = 'mask', keepFirst = 0, keepLast = 0 } = rule
  if (action === 'delete') return () => null
  if (action === 'mask') return (value) => masked(value, keepFirst, keepLast)
  if (secret === undefined) throw new Error("'hash' needs 'secret', so that nobody can try values out")
  return (value) => `hmac-sha256:${createHmac('sha256', secret).update(value).digest('base64url')}`
}

/** The length of what is hidden is hidden as well. A value that would show more than it hides shows nothing. */
function masked(value: string, keepFirst: number, keepLast: number): string {
  if (keepFirst + keepLast === 0) return MASK
  // Characters, not UTF-16 units: half of a pair is no text.
  const characters = [...value]
  const hidden = characters.length - keepFirst - keepLast
  if (hidden < keepFirst + keepLast) return MASK
  const last = keepLast === 0 ? '' : characters.slice(-keepLast).join('')
  return characters.slice(0, keepFirst).join('') + MASK + last
}
