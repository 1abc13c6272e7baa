import { type HeaderList, headerJoined } from '@sluice/core'

/** Why the body behind these fields cannot be read as JSON whatever it is; null: nothing speaks against it. */
export function codingFlaw(headers: HeaderList): string | null {
  const coding = headerJoined(headers, 'content-encoding')
  if (coding !== null && coding.trim().toLowerCase() !== 'identity') {
    return 'has a content coding; send it without content-encoding'
  }
  const type = headerJoined(headers, 'content-type')
  if (type === null) return null
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(type)?.[1]
  // Whoever believes the parameter would read another document than we do.
  if (charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset)) return null
  return 'is in another charset than utf-8'
}
