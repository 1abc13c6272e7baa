import { type Exchange, FORM_TYPE, headerValue, mediaType } from '@sluice/core'

/** Whether a request announces a form. */
export function isForm(x: Exchange): boolean {
  return mediaType(headerValue(x.headers, 'content-type') ?? '') === FORM_TYPE
}

/** A field of a form; null: it is not there, or more than once. */
export function formText(body: Uint8Array, name: string): string | null {
  const values = new URLSearchParams(Buffer.from(body).toString('latin1')).getAll(name)
  return values.length === 1 ? values[0]! : null
}
