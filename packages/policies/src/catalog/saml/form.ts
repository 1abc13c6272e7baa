import { formText } from '../../shared/message/form.js'
import { MAX_ASSERTION_BYTES } from './assertion.js'

/** Base64 and the escapes of a form around it. */
export const MAX_FORM_BYTES = 2 * MAX_ASSERTION_BYTES
/** What browsers make of what providers write: lines may be broken. */
export const BASE64 = /^[A-Za-z0-9+/\r\n]+={0,2}[\r\n]*$/

/** A document in Base64 in a form; null: there is none, or more than one. */
export function formField(body: Uint8Array, name: string): Uint8Array | null {
  const text = formText(body, name)
  return text !== null && BASE64.test(text) ? Buffer.from(text, 'base64') : null
}
