import { type Exchange, headerValue } from '@sluice/core'
import { MAX_ASSERTION_BYTES } from './assertion.js'

const FORM = 'application/x-www-form-urlencoded'
/** Base64 and the escapes of a form around it. */
export const MAX_FORM_BYTES = 2 * MAX_ASSERTION_BYTES
/** What browsers make of what providers write: lines may be broken. */
export const BASE64 = /^[A-Za-z0-9+/\r\n]+={0,2}[\r\n]*$/

/** Whether a request announces a form. */
export function isForm(x: Exchange): boolean {
  return headerValue(x.headers, 'content-type')?.split(';')[0]?.trim().toLowerCase() === FORM
}

/** A document in Base64 in a form; null: there is none, or more than one. */
export function formField(body: Uint8Array, name: string): Uint8Array | null {
  const text = formText(body, name)
  return text !== null && BASE64.test(text) ? Buffer.from(text, 'base64') : null
}

/** A field of a form; null: it is not there, or more than once. */
export function formText(body: Uint8Array, name: string): string | null {
  const values = new URLSearchParams(Buffer.from(body).toString('latin1')).getAll(name)
  return values.length === 1 ? values[0]! : null
}
