import { type HeaderList, removeHeader } from '@sluice/core'

/** What fields say about the bytes of a body (RFC 9110 sections 8.4, 8.8 and 14.3, RFC 9530); it does not hold for others. */
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
 * Takes away what was said about the bytes of a body that another one takes the place of.
 * @param kept names of fields that are about the new one, or of something else.
 */
export function forgetBytes(headers: HeaderList, kept: ReadonlySet<string> | null = null): void {
  for (let i = 0; i < ABOUT_BYTES.length; i++) {
    const name = ABOUT_BYTES[i]!
    if (kept?.has(name) !== true) removeHeader(headers, name)
  }
}
