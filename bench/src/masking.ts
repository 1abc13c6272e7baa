/** What stands in place of a value that may be a secret. */
export const MASK = '***'

/** `/a?b=***` of `/a?b=c`: values of a query, and what has no name in it, may be secrets. A fragment is nobody's to see. */
export function maskedPath(path: string): string {
  const [, plain = '', query, fragment] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(path) ?? []
  const shown = query === undefined ? '' : `?${query.split('&').map(maskedPair).join('&')}`
  return plain + shown + (fragment === undefined ? '' : `#${MASK}`)
}

/** A URL, or what was meant to be one, without the values of its query and without its user. */
export function maskedUrl(url: string): string {
  const scheme = /^(?:.*?:)?\/\//s.exec(url)?.[0] ?? ''
  const [, authority = '', rest = ''] = /^([^/?#]*)(.*)$/s.exec(url.slice(scheme.length)) ?? []
  const user = authority.lastIndexOf('@')
  const host = user === -1 ? authority : MASK + authority.slice(user)
  return scheme + host + maskedPath(rest)
}

/** A text in which URLs may stand, such as what a program has printed. */
export function withMaskedUrls(text: string): string {
  return text.replace(/[a-z][a-z0-9+.-]*:\/\/[^\s'"<>]+/gi, maskedUrl)
}

function maskedPair(pair: string): string {
  const name = pair.indexOf('=')
  if (name === -1) return pair === '' ? '' : MASK
  return pair.slice(0, name + 1) + MASK
}
