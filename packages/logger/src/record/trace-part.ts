/**
 * Format of W3C Trace Context level 1, section 3.2. IDs of zeros are checked separately, because a look-ahead
 * would read them twice.
 */
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/
/** Length of version 00. Later versions may add fields after the flags. */
const LENGTH = 55
const NO_TRACE = '0'.repeat(32)
const NO_SPAN = '0'.repeat(16)

/** Returns `,"trace":{"id":…},"span":{"id":…}` of the caller. Empty if the field is absent or invalid. */
export function tracePart(traceparent: string): string {
  if (traceparent === '' || !TRACEPARENT.test(traceparent)) return ''
  if (traceparent.startsWith('ff') || (traceparent.length !== LENGTH && traceparent.startsWith('00')))
    return ''
  const trace = traceparent.slice(3, 35)
  const span = traceparent.slice(36, 52)
  if (trace === NO_TRACE || span === NO_SPAN) return ''
  return ',"trace":{"id":"' + trace + '"},"span":{"id":"' + span + '"}'
}
