import { type Exchange, FORM_TYPE, headerValue, mediaType } from '@sluice/core'

/** Returns true if a request declares a form. */
export function isForm(x: Exchange): boolean {
  return mediaType(headerValue(x.headers, 'content-type') ?? '') === FORM_TYPE
}

/** Returns a field of a form, or null if it is missing or duplicate. */
export function formText(body: Uint8Array, name: string): string | null {
  const values = new URLSearchParams(Buffer.from(body).toString('latin1')).getAll(name)
  return values.length === 1 ? values[0]! : null
}
