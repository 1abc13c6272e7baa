import { isIP } from 'node:net'

/** Headers by which requests from browsers are recognised. */
export interface GuardedFields {
  readonly host: string | undefined
  readonly origin: string | undefined
}

/**
 * Refuses requests that a web page could make a browser send. A page can neither omit `Origin` on a write nor
 * choose `Host`. A name that an attacker points at this machine (DNS rebinding) arrives as that name, while
 * tools use an address, `localhost` or the configured host. Returns the field at fault, or null if there is no
 * objection.
 * @param ownOrigin origin whose pages may send requests; absent: none.
 */
export function browserObjection(
  fields: GuardedFields,
  configuredHost: string,
  ownOrigin?: string,
): 'origin' | 'host' | null {
  if (fields.origin !== undefined && fields.origin !== ownOrigin) return 'origin'
  return fields.host !== undefined && isAllowedHost(hostOf(fields.host), configuredHost) ? null : 'host'
}

function isAllowedHost(host: string, configuredHost: string): boolean {
  return isIP(host) !== 0 || host === 'localhost' || host === bare(configuredHost.toLowerCase())
}

/** Returns the lower-case host of `host`, `host:port` or `[v6]:port`; empty for anything else. */
function hostOf(field: string): string {
  const match = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/.exec(field.toLowerCase())
  return match === null ? '' : bare(match[1]!)
}

function bare(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
}
