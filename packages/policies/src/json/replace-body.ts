import { type Exchange, setHeader } from '@sluice/core'
import { forgetBytes } from '../body-fields.js'

/** Puts another body in the place of one of an exchange's bodies, and takes away what was said about its bytes. */
export function replaceBody(
  x: Exchange,
  side: 'request' | 'response',
  { body, contentType }: { readonly body: Uint8Array; readonly contentType?: string },
): void {
  const headers = side === 'request' ? x.headers : x.responseHeaders
  forgetBytes(headers)
  if (contentType !== undefined) setHeader(headers, 'content-type', contentType)
  if (side === 'request') x.body = body
  else x.responseBody = body
}
