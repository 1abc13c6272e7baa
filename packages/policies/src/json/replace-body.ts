import { type Exchange, removeHeader, setHeader } from '@sluice/core'

/** Fields that tell about the bytes of a body. */
const ABOUT_BYTES = ['content-md5', 'digest', 'content-digest', 'repr-digest', 'etag', 'accept-ranges']

/** Puts another body in the place of one of an exchange's bodies, and takes away what was said about its bytes. */
export function replaceBody(
  x: Exchange,
  side: 'request' | 'response',
  { body, contentType }: { readonly body: Uint8Array; readonly contentType?: string },
): void {
  const headers = side === 'request' ? x.headers : x.responseHeaders
  for (const name of ABOUT_BYTES) removeHeader(headers, name)
  if (contentType !== undefined) setHeader(headers, 'content-type', contentType)
  if (side === 'request') x.body = body
  else x.responseBody = body
}
