import { hasContentCoding, headerJoined } from '@sluice/core'
import { charsetsOf } from '../../shared/charsets.js'

/** UTF-8, or a part of it. */
const UTF8 = /^(?:utf-?8|us-ascii)$/

/** Why the body with these fields cannot be read as JSON whatever it is; null: nothing speaks against it. */
export function codingFlaw(headers: readonly string[]): string | null {
  if (hasContentCoding(headers)) return 'has a content coding; send it without content-encoding'
  const charsets = charsetsOf(headerJoined(headers, 'content-type') ?? '')
  return charsets.every((charset) => UTF8.test(charset)) ? null : 'is in another charset than utf-8'
}
