import { formText } from '../../shared/message/form.js'
import { MAX_ASSERTION_BYTES } from './assertion.js'

/** Base64 and the escapes of a form around it. */
export const MAX_FORM_BYTES = 2 * MAX_ASSERTION_BYTES
export const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** A document in Base64 in a form; null: there is none, or more than one. */
export function formField(body: Uint8Array, name: string): Uint8Array | null {
  // Lines may be broken, as MIME does. One expression for both would try every line against every other.
  const text = formText(body, name)?.replaceAll(/[\r\n]/g, '') ?? null
  return text !== null && BASE64.test(text) ? Buffer.from(text, 'base64') : null
}
