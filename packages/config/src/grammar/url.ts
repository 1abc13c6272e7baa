import type { Flaw } from '../flaw.js'

/** Reads the URL of a target: its origin, `http://host:port`; a default port is left out. */
export function parseTargetUrl(text: string): string | Flaw {
  const url = parseUrl(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return {
      message: `'${text}' is not the URL of a target`,
      remedy: 'write for example http://10.0.0.5:9000',
    }
  }
  if (url.username !== '' || url.password !== '') {
    return {
      message: 'the URL of a target holds credentials',
      remedy: 'remove them; a policy can add them to requests',
    }
  }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    return {
      message: `the target '${text}' has more than an origin`,
      remedy: `write ${url.origin}; rewrite.prefix adds a path`,
    }
  }
  return url.origin
}

/** Reads the URL of an outbound proxy, which is spoken to without TLS. */
export function parseProxyUrl(text: string): string | Flaw {
  const origin = parseTargetUrl(text)
  if (typeof origin === 'string' && origin.startsWith('http:')) return origin
  return {
    message: 'this is not the URL of a proxy',
    remedy: 'write for example http://10.0.0.9:3128, with username and password beside it',
  }
}

/** Reads the URL of a service whose scheme is one of those given, without the colon. */
export function parseServiceUrl(text: string, schemes: readonly string[]): URL | Flaw {
  const url = parseUrl(text)
  if (url !== null && schemes.includes(url.protocol.slice(0, -1)) && url.hostname !== '') return url
  return {
    message: 'this is not the URL of the service',
    remedy: `write for example ${schemes[0]}://127.0.0.1`,
  }
}

/** Where a Valkey or Redis server is. A user in the URL would be shown with it. */
export function parseRedisUrl(text: string): URL | Flaw {
  const url = parseServiceUrl(text, ['redis', 'rediss'])
  if (!(url instanceof URL)) return url
  if (url.username !== '' || url.password !== '') {
    return { message: 'the URL holds a user or a password', remedy: 'write them as username and password' }
  }
  if (/^(\/[0-9]{0,3})?$/.test(url.pathname) && url.search === '' && url.hash === '') return url
  return {
    message: 'this is not the URL of a database',
    remedy: 'write for example redis://127.0.0.1:6379/0',
  }
}

/** Where a cache server is: an origin. A user in the URL would be shown with it. */
export function parseCacheUrl(text: string): URL | Flaw {
  const url = parseServiceUrl(text, ['http', 'https'])
  if (!(url instanceof URL)) return url
  if (url.username !== '' || url.password !== '')
    return { message: 'the URL holds a user or a password', remedy: 'write the token as token' }
  if (url.pathname === '/' && url.search === '' && url.hash === '') return url
  return { message: 'the URL of a cache server has more than an origin', remedy: `write ${url.origin}` }
}

/** Spaces and control characters, which URL would quietly drop, make a text no URL. */
function parseUrl(text: string): URL | null {
  if (/[\u0000-\u0020\\]/.test(text) || !/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return null
  return URL.canParse(text) ? new URL(text) : null
}
