/** Where a policy calls, in the two parts that `env.httpClient` takes. */
export interface Endpoint {
  /** `https://login.example.com` */
  readonly origin: string
  /** Path and query. */
  readonly path: string
}

/** Reads an address that the document names. @param key where it stands, for messages. @throws Error when it is none. */
export function parseEndpoint(text: string, key: string): Endpoint {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error(`'${key}' is no address; write https://host/path`)
  // Credentials have keys of their own, which nothing shows.
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw new Error(`'${key}' has a user or a fragment; remove it`)
  return { origin: url.origin, path: `${url.pathname}${url.search}` }
}
