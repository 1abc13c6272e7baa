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
