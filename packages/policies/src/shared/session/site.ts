import { type Exchange, headerValue, isPlainPath } from '@sluice/core'

/** Where users meet the gateway. */
export interface Site {
  /** `https://app.example.com` */
  readonly origin: string
  readonly isSecure: boolean
  /** Where the provider sends them back to. */
  readonly callbackPath: string
}

/** @param key where the address stands, for messages. @throws Error for a URL that is none, or without TLS on another machine. */
export function siteOf(redirectUri: string, key: string): Site {
  const url = URL.canParse(redirectUri) ? new URL(redirectUri) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new Error(`'${key}' is no address; write https://host/path`)
  if (url.search !== '' || url.hash !== '' || `${url.origin}${url.pathname}` !== redirectUri)
    throw new Error(
      `'${key}' has to be an origin and a path as URLs have them, such as ${url.origin}${url.pathname}`,
    )
  if (!isPlainPath(url.pathname))
    throw new Error(`the path of '${key}' has to be one without escapes: ${url.pathname}`)
  const isSecure = url.protocol === 'https:'
  if (!isSecure && !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname))
    throw new Error(`'${key}' has no TLS; the cookies of users would be sent in clear`)
  return { origin: url.origin, isSecure, callbackPath: url.pathname }
}

/** Whether a request opens a page in a browser now (Fetch Metadata, or what browsers without it accept). */
export function isNavigation(x: Exchange): boolean {
  if ((headerValue(x.headers, 'sec-purpose') ?? '').includes('prefetch')) return false
  const mode = headerValue(x.headers, 'sec-fetch-mode')
  if (mode !== null) return mode === 'navigate' && headerValue(x.headers, 'sec-fetch-dest') !== 'iframe'
  if (headerValue(x.headers, 'x-requested-with') !== null) return false
  return (headerValue(x.headers, 'accept') ?? '').includes('text/html')
}

/** Whether a request comes from a page of the site, or from nobody's page: no other site has made the browser send it. */
export function isOfSite(x: Exchange, { origin }: Site): boolean {
  const fetchSite = headerValue(x.headers, 'sec-fetch-site')
  if (fetchSite !== null) return fetchSite === 'same-origin' || fetchSite === 'none'
  const from = headerValue(x.headers, 'origin') ?? headerValue(x.headers, 'referer')
  return from !== null && URL.canParse(from) && new URL(from).origin === origin
}
