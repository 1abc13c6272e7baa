import { type HeaderList, removeHeader } from '@sluice/core'

/**
 * Headers that describe the bytes of a body (RFC 9110 sections 8.4, 8.8 and 14.3, RFC 9530). They become invalid when
 * the body is replaced.
 */
const ABOUT_BYTES = [
  'content-encoding',
  'content-md5',
  'digest',
  'content-digest',
  'repr-digest',
  'etag',
  'accept-ranges',
] as const

/**
 * Removes the headers that describe the bytes of a replaced body.
 * @param kept names of headers that describe the new body or something else.
 */
export function removeByteHeaders(headers: HeaderList, kept: ReadonlySet<string> | null = null): void {
  for (let i = 0; i < ABOUT_BYTES.length; i++) {
    const name = ABOUT_BYTES[i]!
    if (kept?.has(name) !== true) removeHeader(headers, name)
  }
}
