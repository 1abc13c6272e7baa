import { formText } from '@sluice/policies/shared/message/form'
import { MAX_ASSERTION_BYTES } from './assertion.js'

/** Maximum size of a form with an assertion: base64 plus form escapes. */
export const MAX_FORM_BYTES = 2 * MAX_ASSERTION_BYTES
/** Matches base64 without line breaks. */
export const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Returns the base64-decoded value of a form field, or null if it is missing, repeated or invalid. */
export function formField(body: Uint8Array, name: string): Uint8Array | null {
  // Removes line breaks (MIME) first. A single expression for both would take quadratic time.
  const text = formText(body, name)?.replaceAll(/[\r\n]/g, '') ?? null
  return text !== null && BASE64.test(text) ? Buffer.from(text, 'base64') : null
}
