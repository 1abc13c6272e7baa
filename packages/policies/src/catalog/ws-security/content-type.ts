import { type HeaderList, headerCount, headerValue, mediaType, setHeader } from '@sluice/core'
import { hasAcceptedCharset } from '../../engines/xml/media-type.js'
import type { SoapVersion } from './fault.js'

const SOAP_TYPES: ReadonlyMap<string, SoapVersion> = new Map([
  ['text/xml', '1.1'],
  ['application/xml', '1.1'],
  ['application/soap+xml', '1.2'],
])

/**
 * The SOAP version that a Content-Type announces; null for what is no SOAP by itself, such as one with attachments, or
 * is so in an encoding in which whoever believes it would read another message.
 */
export function announcedVersion(headers: HeaderList): SoapVersion | null {
  if (headerCount(headers, 'content-type') !== 1) return null
  const type = headerValue(headers, 'content-type')!
  if (!hasAcceptedCharset(type)) return null
  return SOAP_TYPES.get(mediaType(type)) ?? null
}

/** What is written here is UTF-8, whatever it was before. */
export function announceUtf8(headers: HeaderList): void {
  const type = headerValue(headers, 'content-type') ?? ''
  if (!/;\s*charset\s*=/i.test(type)) return
  setHeader(
    headers,
    'content-type',
    type.replace(/(;\s*charset\s*=\s*)(?:"[^"]{0,64}"|[^\s;"]{0,64})/gi, '$1utf-8'),
  )
}
