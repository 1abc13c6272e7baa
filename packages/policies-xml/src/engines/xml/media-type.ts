import { hasContentCoding, headerCount, headerJoined, headerValue, mediaType } from '@sluice/core'
import { charsetsOf } from '@sluice/policies/shared/message/charsets'
import { isAcceptedEncoding } from './encoding.js'

/** Returns what is wrong with the headers that describe an XML body, or null. */
export type MediaTypeCheck = (headers: readonly string[]) => string | null

/**
 * Creates a check for the `content-type` and `content-encoding` of XML bodies. A reader that trusts an unknown
 * charset could read another document than the gateway.
 * @param accepted media types without parameters; `*+xml` accepts every type with that suffix.
 */
export function mediaTypeCheck(accepted: readonly string[]): MediaTypeCheck {
  const types = new Set(accepted.map((type) => type.toLowerCase()))
  const takesSuffix = types.has('*+xml')
  return (headers) => {
    if (hasContentCoding(headers)) return 'the body has a content coding; send it without content-encoding'
    const field = headerCount(headers, 'content-type') === 1 ? headerValue(headers, 'content-type') : null
    const type = mediaType(field ?? '')
    if (!types.has(type) && !(takesSuffix && type.endsWith('+xml')))
      return `the content-type is not accepted; send ${accepted.join(', ')}`
    return hasAcceptedCharset(field ?? '') ? null : 'the charset is not supported; send UTF-8'
  }
}

/** Returns why a body with these headers cannot be read as XML, regardless of its media type, or null. */
export function xmlCodingIssue(headers: readonly string[]): string | null {
  if (hasContentCoding(headers)) return 'has a content coding; send it without content-encoding'
  const isKnown = hasAcceptedCharset(headerJoined(headers, 'content-type') ?? '')
  return isKnown ? null : 'has an unsupported charset; send UTF-8'
}

/** Returns true if a content type names only encodings in which ASCII bytes keep their meaning. */
export function hasAcceptedCharset(contentType: string): boolean {
  return charsetsOf(contentType).every(isAcceptedEncoding)
}
