import type { CompileEnv, HttpClient, HttpClientTls } from '@sluice/core'
import { callOptions } from './call-options.js'

/** Address of a server, in the two parts that `env.httpClient` takes. */
export interface Endpoint {
  /** Origin, such as `https://login.example.com`. */
  readonly origin: string
  /** Path and query. */
  readonly path: string
}

/** Parses a configured address. @param key name of the option in messages. @throws Error for an invalid address. */
export function parseEndpoint(text: string, key: string): Endpoint {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error(`'${key}' is not a valid address; use the form https://host/path`)
  // Credentials have separate options, which are redacted.
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw new Error(`'${key}' has a user or a fragment; remove it`)
  return { origin: url.origin, path: `${url.pathname}${url.search}` }
}

/** An endpoint and the client that calls it. */
export interface OpenEndpoint extends Endpoint {
  readonly client: HttpClient
  /** Time limit of a call in milliseconds. */
  readonly totalMs: number
}

interface EndpointConfig {
  readonly url: string
  readonly timeout: string
  readonly tls?: HttpClientTls | undefined
  readonly maxResponseBytes: number
}

/**
 * Opens the client of a configured endpoint.
 * @param keys names of the options in messages.
 * @throws Error for an invalid address or timeout.
 */
export function openEndpoint(
  { url, maxResponseBytes, ...config }: EndpointConfig,
  env: CompileEnv,
  keys = { url: 'url', timeout: 'timeout' },
): OpenEndpoint {
  const { origin, path } = parseEndpoint(url, keys.url)
  const options = callOptions(config, keys.timeout)
  const client = env.httpClient({ origin, ...options, maxResponseBytes })
  return { origin, path, client, totalMs: options.totalMs }
}
