import type { Issue } from '../diagnostic/issue.js'
import { isLoopback } from './address.js'

/** Parses a target URL. Returns its origin, `http://host:port`, without a default port. */
export function parseTargetUrl(text: string): string | Issue {
  const url = parseUrl(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return {
      message: `'${text}' is not a target URL`,
      remedy: isOrigin(`http://${text}`) ? `write http://${text}` : 'write for example http://10.0.0.5:9000',
    }
  }
  if (url.username !== '' || url.password !== '') {
    return {
      message: 'a target URL must not contain credentials',
      remedy: 'remove them; use a policy such as backend-auth to add credentials',
    }
  }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    return {
      message: `the target '${text}' must not have a path, query or fragment`,
      remedy: `write ${url.origin}; use rewrite.prefix to add a path`,
    }
  }
  return url.origin
}

function isOrigin(text: string): boolean {
  return parseUrl(text) !== null && typeof parseTargetUrl(text) === 'string'
}

/** Parses the URL of an outbound proxy. TLS to the proxy is not supported. */
export function parseProxyUrl(text: string): string | Issue {
  const origin = parseTargetUrl(text)
  if (typeof origin === 'string' && origin.startsWith('http:')) return origin
  return {
    message: 'this is not a proxy URL',
    remedy: 'write for example http://10.0.0.9:3128, with username and password as separate keys',
  }
}

/** Parses the URL of a service. @param schemes allowed schemes, without the colon */
export function parseServiceUrl(text: string, schemes: readonly string[]): URL | Issue {
  const url = parseUrl(text)
  if (url !== null && schemes.includes(url.protocol.slice(0, -1)) && url.hostname !== '') return url
  return {
    message: 'this is not a valid URL',
    remedy: `write for example ${schemes[0]}://127.0.0.1`,
  }
}

/** Parses the address of a Kafka broker. */
export function parseBroker(text: string): URL | Issue {
  const url = parseUrl(`kafka://${text}`)
  if (
    url !== null &&
    url.hostname !== '' &&
    Number(url.port) > 0 &&
    url.host.toLowerCase() === text.toLowerCase()
  )
    return url
  return { message: 'this is not a broker address', remedy: 'write for example kafka-1:9092' }
}

/** Parses the URL of a Valkey or Redis server. Credentials in it are rejected because the URL is shown. */
export function parseRedisUrl(text: string): URL | Issue {
  const url = parseServiceUrl(text, ['redis', 'rediss'])
  if (!(url instanceof URL)) return url
  if (url.username !== '' || url.password !== '')
    return { message: 'the URL contains credentials', remedy: 'use the keys username and password' }
  if (/^(\/[0-9]{0,3})?$/.test(url.pathname) && url.search === '' && url.hash === '') return url
  return {
    message: 'this is not a Redis URL',
    remedy: 'write for example redis://127.0.0.1:6379/0',
  }
}

/**
 * Parses the URL of a cache server, which must be an origin. Credentials in it are rejected because the URL
 * is shown.
 */
export function parseCacheUrl(text: string): URL | Issue {
  const url = parseServiceUrl(text, ['http', 'https'])
  if (!(url instanceof URL)) return url
  if (url.username !== '' || url.password !== '')
    return { message: 'the URL contains credentials', remedy: 'use the key token' }
  if (url.pathname === '/' && url.search === '' && url.hash === '') return url
  return {
    message: 'the URL must not have a path, query or fragment',
    remedy: `write ${url.origin}`,
  }
}

/** Parses the URL of a controller, an origin. Without TLS, the token would be readable on the way. */
export function parseControlUrl(text: string): URL | Issue {
  const url = parseCacheUrl(text)
  if (!(url instanceof URL)) return url
  if (url.protocol === 'https:' || isLoopback(url.hostname.replace(/^\[|\]$/g, ''))) return url
  return {
    message: 'the connection to a controller on another machine must use TLS',
    remedy: `write ${url.origin.replace('http:', 'https:')}`,
  }
}

/** Parses a URL. Rejects spaces and control characters, which URL would silently remove. */
function parseUrl(text: string): URL | null {
  if (/[\u0000-\u0020\\]/.test(text) || !/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return null
  return URL.canParse(text) ? new URL(text) : null
}
