import { hasContentCoding, headerJoined } from '@sluice/core'
import { charsetsOf } from '../message/charsets.js'

/** Charsets that are UTF-8 or a subset of it. */
const UTF8 = /^(?:utf-?8|us-ascii)$/

/** Returns why a body with these headers cannot be read as JSON, or null. */
export function codingIssue(headers: readonly string[]): string | null {
  if (hasContentCoding(headers)) return 'has a content coding; send it without content-encoding'
  const charsets = charsetsOf(headerJoined(headers, 'content-type') ?? '')
  return charsets.every((charset) => UTF8.test(charset))
    ? null
    : 'has an unsupported charset; send it as utf-8'
}
