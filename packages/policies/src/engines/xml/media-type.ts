import { hasContentCoding, headerCount, headerJoined, headerValue, mediaType } from '@sluice/core'
import { charsetsOf } from '../../shared/charsets.js'
import { isAcceptedEncoding } from './encoding.js'

/** Says what is wrong with the fields that describe an XML body; null: nothing. */
export type MediaTypeCheck = (headers: readonly string[]) => string | null

/**
 * Checks `content-type` and `content-encoding` of a body that is read as XML. A charset that the gate does not know
 * would let whoever believes it read another document.
 * @param accepted media types without parameters; `*+xml` stands for all that end so.
 */
export function mediaTypeCheck(accepted: readonly string[]): MediaTypeCheck {
  const types = new Set(accepted.map((type) => type.toLowerCase()))
  const takesSuffix = types.has('*+xml')
  return (headers) => {
    if (hasContentCoding(headers)) return 'the body has a content coding; send it without'
    const field = headerCount(headers, 'content-type') === 1 ? headerValue(headers, 'content-type') : null
    const type = mediaType(field ?? '')
    if (!types.has(type) && !(takesSuffix && type.endsWith('+xml'))) {
      return `the content-type is not accepted; send ${accepted.join(', ')}`
    }
    return hasAcceptedCharset(field ?? '') ? null : 'the charset is not accepted; send UTF-8'
  }
}

/** What is wrong with the body with these fields as XML, whatever its type is; null: nothing. */
export function xmlCodingFlaw(headers: readonly string[]): string | null {
  if (hasContentCoding(headers)) return 'has a content coding; send it without content-encoding'
  const isKnown = hasAcceptedCharset(headerJoined(headers, 'content-type') ?? '')
  return isKnown ? null : 'is in a charset that is not accepted; send UTF-8'
}

/** Whether a content type names no encoding in which ASCII could mean something else. */
export function hasAcceptedCharset(contentType: string): boolean {
  return charsetsOf(contentType).every(isAcceptedEncoding)
}
