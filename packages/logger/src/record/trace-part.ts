/** W3C Trace Context, level 1, section 3.2: ids of zeros and version ff are not valid. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/
/** Of version 00; later versions may have more behind the flags. */
const LENGTH = 55

/** `,"trace":{"id":…},"span":{"id":…}` of the caller; empty when the field is absent or not valid. */
export function tracePart(traceparent: string): string {
  if (traceparent === '' || !TRACEPARENT.test(traceparent)) return ''
  if (traceparent.length !== LENGTH && traceparent.startsWith('00')) return ''
  return (
    ',"trace":{"id":"' + traceparent.slice(3, 35) + '"},"span":{"id":"' + traceparent.slice(36, 52) + '"}'
  )
}
