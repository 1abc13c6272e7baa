import { type HeaderList, headerCount, headerValue, mediaType, setHeader } from '@sluice/core'
import { hasAcceptedCharset } from '../../engines/xml/media-type.js'
import type { SoapVersion } from './fault.js'

const SOAP_TYPES: ReadonlyMap<string, SoapVersion> = new Map([
  ['text/xml', '1.1'],
  ['application/xml', '1.1'],
  ['application/soap+xml', '1.2'],
])

/**
 * Returns the SOAP version of a Content-Type. Null if it is not plain SOAP, such as a message with
 * attachments, or has a charset that would make others read a different message.
 */
export function announcedVersion(headers: HeaderList): SoapVersion | null {
  if (headerCount(headers, 'content-type') !== 1) return null
  const type = headerValue(headers, 'content-type')!
  if (!hasAcceptedCharset(type)) return null
  return SOAP_TYPES.get(mediaType(type)) ?? null
}

/** Sets the charset to UTF-8, the encoding of rewritten messages. */
export function announceUtf8(headers: HeaderList): void {
  const type = headerValue(headers, 'content-type') ?? ''
  if (!/;\s*charset\s*=/i.test(type)) return
  setHeader(
    headers,
    'content-type',
    type.replace(/(;\s*charset\s*=\s*)(?:"[^"]{0,64}"|[^\s;"]{0,64})/gi, '$1utf-8'),
  )
}
