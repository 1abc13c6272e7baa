import { isMessageLookalike, plainName } from '@sluice/core'
import { isForwardingField } from '../listen/client-address.js'

/**
 * Returns the request trailers to forward, or null. Policies have seen only the head. A target may
 * merge both, so trailers that repeat a field of the head or concern forwarding are dropped (RFC 9110 section 6.5.1).
 * @param trailers flat list with names in lower case.
 * @param headers fields of the head as sent to the target, in the same form.
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
