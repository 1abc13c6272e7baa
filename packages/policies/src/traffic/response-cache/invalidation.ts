import { type Exchange, headerValue } from '@sluice/core'
import { uriOf } from './key.js'

/**
 * Returns the URIs that a successful unsafe request changed: its own, and those of this host that the
 * response names.
 */
export function invalidatedUris(x: Exchange, own: string): readonly string[] {
  const uris = [own]
  for (const name of ['location', 'content-location']) {
    const uri = uriNamed(x, headerValue(x.responseHeaders, name))
    if (uri !== null) uris.push(uri)
  }
  return uris
}

/** Returns the named URI, or null if there is none or it is on another host (RFC 9111, 4.4). */
function uriNamed(x: Exchange, reference: string | null): string | null {
  const base = `${x.scheme}://${x.authority}${x.forwardPath}`
  if (reference === null || !URL.canParse(reference, base)) return null
  const url = new URL(reference, base)
  if (url.host !== new URL(base).host) return null
  return uriOf(x.authority, url.pathname, url.search.slice(1))
}
