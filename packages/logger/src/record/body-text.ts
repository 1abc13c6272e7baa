import { isUtf8 } from 'node:buffer'
import type { SensitiveNames } from '@sluice/core'
import { type BodyBeginning, type CaptureRules, FORM_TYPE, mediaType } from '@sluice/core'
import { decodedText, wholeCharacters } from './charset.js'
import { maskedQuery } from './masked-query.js'
import { isTextual } from './media-type.js'
import { withoutFiles } from './multipart.js'

/** What is recorded of a body as text. */
export interface BodyText {
  readonly text: string
  /** A value is left out for its name, or because values are not recorded. A digest of the body would confirm a guess of it. */
  readonly hidesValues: boolean
}

/**
 * What was kept of a body as text; null when it is none. Files of a multipart form are left out of it.
 * @param multipart what is recorded of the fields of such a form.
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
  // In UTF-16, every other byte is NUL; in text of another encoding, none is.
  if (body.beginning.includes(0)) return null
  const isText = isTextual(type) || type === FORM_TYPE || (type === '' && isUtf8(wholeCharacters(body)))
  const text = isText ? decodedText(body) : null
  if (text === null) return null
  const recorded = type === FORM_TYPE ? maskedQuery(text, sensitive) : text
  // What stands after the end of what was kept is not looked at.
  return { text: recorded, hidesValues: type === FORM_TYPE && (recorded !== text || body.isTruncated) }
}

/** Whether a body is of a kind in which values are hidden by their names, readable or not. */
export function isForm(contentType: string): boolean {
  const type = mediaType(contentType)
  return type === FORM_TYPE || type === 'multipart/form-data'
}
