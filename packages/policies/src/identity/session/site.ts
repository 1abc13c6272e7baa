import { type Exchange, headerValue, isPlainPath } from '@sluice/core'

/** Site on which users log in. */
export interface Site {
  /** Origin, such as `https://app.example.com`. */
  readonly origin: string
  readonly isSecure: boolean
  /** Path to which the provider redirects. */
  readonly callbackPath: string
}

/**
 * Parses a redirect URI.
 * @param key name of the option in messages.
 * @throws Error for an invalid URI, or one without TLS on another host.
 */
export function siteOf(redirectUri: string, key: string): Site {
  const url = URL.canParse(redirectUri) ? new URL(redirectUri) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new Error(`'${key}' is not a valid address; use the form https://host/path`)
  if (url.search !== '' || url.hash !== '' || `${url.origin}${url.pathname}` !== redirectUri)
    throw new Error(`'${key}' must be a normalized origin and path, such as ${url.origin}${url.pathname}`)
  if (!isPlainPath(url.pathname))
    throw new Error(`the path of '${key}' must not contain escapes: ${url.pathname}`)
  const isSecure = url.protocol === 'https:'
  if (!isSecure && !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname))
    throw new Error(`'${key}' does not use TLS, so cookies would be sent unencrypted`)
  return { origin: url.origin, isSecure, callbackPath: url.pathname }
}

/**
 * Returns true if the request is a navigation in a browser (Fetch Metadata, or the Accept header of older browsers).
 */
export function isNavigation(x: Exchange): boolean {
  if ((headerValue(x.headers, 'sec-purpose') ?? '').includes('prefetch')) return false
  const mode = headerValue(x.headers, 'sec-fetch-mode')
  if (mode !== null) return mode === 'navigate' && headerValue(x.headers, 'sec-fetch-dest') !== 'iframe'
  if (headerValue(x.headers, 'x-requested-with') !== null) return false
  return (headerValue(x.headers, 'accept') ?? '').includes('text/html')
}

/** Returns true if a page of the site, or the user directly, caused the request. */
export function isOfSite(x: Exchange, { origin }: Site): boolean {
  const fetchSite = headerValue(x.headers, 'sec-fetch-site')
  if (fetchSite !== null) return fetchSite === 'same-origin' || fetchSite === 'none'
  const from = headerValue(x.headers, 'origin') ?? headerValue(x.headers, 'referer')
  return from !== null && URL.canParse(from) && new URL(from).origin === origin
}
