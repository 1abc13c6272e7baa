import { isUtf8 } from 'node:buffer'
import {
  type BodyBeginning,
  type CaptureRules,
  FORM_TYPE,
  mediaType,
  type SensitiveNames,
} from '@sluice/core'
import { decodedText, wholeCharacters } from './charset.js'
import { maskedQuery } from './masked-query.js'
import { isTextual } from './media-type.js'
import { type BodyText, withoutFiles } from './multipart.js'

/**
 * Returns the captured body as text, or null if it is not text. Omits files of multipart forms.
 * @param multipart Handling of the fields of multipart forms.
 */
export function bodyText(
  body: BodyBeginning,
  sensitive: SensitiveNames,
  multipart: CaptureRules['multipart'],
): BodyText | null {
  if (body.encoding !== '' && body.encoding.toLowerCase() !== 'identity') return null
  const type = mediaType(body.contentType)
  if (type.startsWith('multipart/'))
    return withoutFiles(body, (name) => multipart === 'values' && !sensitive.has(name))
  // UTF-16 text contains NUL bytes. Text in other encodings does not.
  if (body.beginning.includes(0)) return null
  const isText = isTextual(type) || type === FORM_TYPE || (type === '' && isUtf8(wholeCharacters(body)))
  const text = isText ? decodedText(body) : null
  if (text === null) return null
  const recorded = type === FORM_TYPE ? maskedQuery(text, sensitive) : text
  // Text after the captured part may contain hidden values too.
  return { text: recorded, hidesValues: type === FORM_TYPE && (recorded !== text || body.isTruncated) }
}

/** Returns true if values are hidden by their names in this media type, even if the body is unreadable. */
export function isForm(contentType: string): boolean {
  const type = mediaType(contentType)
  return type === FORM_TYPE || type === 'multipart/form-data'
}
