/** Replaces a value that may be a secret. */
export const MASK = '***'

/**
 * Returns the path with masked query values, such as `/a?b=***`. Fragments and query parts without a name are masked
 * too.
 */
export function maskedPath(path: string): string {
  const [, plain = '', query, fragment] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(path) ?? []
  const shown = query === undefined ? '' : `?${query.split('&').map(maskedPair).join('&')}`
  return plain + shown + (fragment === undefined ? '' : `#${MASK}`)
}

/** Returns a URL, valid or not, without query values and user. */
export function maskedUrl(url: string): string {
  const scheme = /^(?:.*?:)?\/\//s.exec(url)?.[0] ?? ''
  const [, authority = '', rest = ''] = /^([^/?#]*)(.*)$/s.exec(url.slice(scheme.length)) ?? []
  const user = authority.lastIndexOf('@')
  const host = user === -1 ? authority : MASK + authority.slice(user)
  return scheme + host + maskedPath(rest)
}

/** Returns a text with its URLs masked, such as output of a program. */
export function withMaskedUrls(text: string): string {
  return text.replace(/[a-z][a-z0-9+.-]*:\/\/[^\s'"<>]+/gi, maskedUrl)
}

function maskedPair(pair: string): string {
  const name = pair.indexOf('=')
  if (name === -1) return pair === '' ? '' : MASK
  return pair.slice(0, name + 1) + MASK
}
