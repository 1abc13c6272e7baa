import { isMessageLookalike, plainName } from '@sluice/core'
import { isForwardingField } from '../listener/client-address.js'

/**
 * The fields after a request body that go on; null: none. Policies have read, written and checked the head only: what repeats
 * a field of it, or says who forwarded the request, would speak against them where a target merges both (RFC 9110 section 6.5.1).
 * @param trailers a flat list, names in lower case.
 * @param headers the head as it goes to the target, alike.
 */
export function requestTrailers(
  trailers: readonly string[],
  headers: readonly string[],
): readonly string[] | null {
  const known = new Set<string>()
  for (let i = 0; i < headers.length; i += 2) known.add(plainName(headers[i]!))
  const passed: string[] = []
  for (let i = 0; i < trailers.length; i += 2) {
    const name = trailers[i]!
    if (known.has(plainName(name)) || isForwardingField(name) || isMessageLookalike(name)) continue
    passed.push(name, trailers[i + 1]!)
  }
  return passed.length > 0 ? passed : null
}
