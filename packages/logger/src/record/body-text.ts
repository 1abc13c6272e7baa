import { isUtf8 } from 'node:buffer'
import type { BodyBeginning } from '@sluice/core'
import { decodedText, wholeCharacters } from './charset.js'
import { maskedQuery } from './masked-query.js'
import { isTextual, mediaType } from './media-type.js'
import { withoutFiles } from './multipart.js'
import type { SensitiveNames } from './sensitive-names.js'

const FORM = 'application/x-www-form-urlencoded'

/** What was kept of a body as text; null when it is none. Files of a multipart form are left out of it. */
export function bodyText(body: BodyBeginning, sensitive: SensitiveNames): string | null {
  if (body.encoding !== '' && body.encoding.toLowerCase() !== 'identity') return null
  const type = mediaType(body.contentType)
  if (type.startsWith('multipart/')) return withoutFiles(body, sensitive)
  // In UTF-16, every other byte is NUL; in text of another encoding, none is.
  if (body.beginning.includes(0)) return null
  if (type === FORM) {
    const form = decodedText(body)
    return form === null ? null : maskedQuery(form, sensitive)
  }
  if (isTextual(type)) return decodedText(body)
  return type === '' && isUtf8(wholeCharacters(body)) ? decodedText(body) : null
}
