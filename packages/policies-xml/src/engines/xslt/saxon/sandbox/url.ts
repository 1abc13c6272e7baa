/**
 * Resolves references as RFC 3986 section 5.2 requires, with the interface of the WHATWG URL, which is not part of
 * the language. Runs inside the sandbox from its source text, so it must not reference anything outside of itself.
 */
export class SandboxUrl {
  readonly href: string
  readonly protocol: string
  readonly pathname: string

  /** Resolves a reference. @throws TypeError for a relative reference without a base */
  constructor(reference: unknown, base?: unknown) {
    const own = SandboxUrl.split(reference)
    const isAbsolute = own.scheme !== ''
    const from = isAbsolute || base === undefined || base === null ? own : SandboxUrl.split(base)
    if (from.scheme === '') throw new TypeError('Invalid URL')
    const { authority, path, query } = isAbsolute ? own : SandboxUrl.merge(own, from)
    this.protocol = from.scheme.toLowerCase()
    this.pathname = SandboxUrl.withoutDots(path)
    const host = this.protocol === 'file:' && authority === '' ? '//' : authority
    this.href = this.protocol + host + this.pathname + query + own.fragment
  }

  private static split(value: unknown): UrlParts {
    const text = String(value)
      .trim()
      .replace(/\p{Surrogate}/gu, '\ufffd')
      .replace(/[^\x21-\x7e]|["<>\\^`{|}]/gu, encodeURIComponent)
    const [, scheme = '', authority = '', path = '', query = '', fragment = ''] =
      /^([a-z][a-z0-9+.-]*:)?(\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?(#.*)?$/i.exec(text) ?? []
    return { scheme, authority, path, query, fragment }
  }

  private static merge(own: UrlParts, base: UrlParts): UrlParts {
    if (own.authority !== '') return own
    const { authority } = base
    if (own.path.startsWith('/')) return { ...own, authority }
    if (own.path === '') return { ...base, query: own.query === '' ? base.query : own.query }
    return { ...own, authority, path: base.path.replace(/[^/]*$/, '') + own.path }
  }

  private static withoutDots(path: string): string {
    if (!path.startsWith('/')) return path
    const kept: string[] = []
    const segments = path.slice(1).split('/')
    segments.forEach((segment, i) => {
      if (segment === '..') kept.pop()
      if (segment !== '.' && segment !== '..') kept.push(segment)
      else if (i === segments.length - 1) kept.push('')
    })
    return `/${kept.join('/')}`
  }

  toString(): string {
    return this.href
  }
}

interface UrlParts {
  readonly scheme: string
  readonly authority: string
  readonly path: string
  readonly query: string
  readonly fragment: string
}
