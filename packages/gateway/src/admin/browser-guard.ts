import { isIP } from 'node:net'
import { type AdminAnswer, problemAnswer } from './problem.js'

/** Headers by which requests from browsers are recognised. */
export interface GuardedFields {
  readonly host: string | undefined
  readonly origin: string | undefined
}

/**
 * Refuses requests that a web page could make a browser send. A page can neither omit `Origin` on a write nor
 * choose `Host`. A name that an attacker points at this machine (DNS rebinding) arrives as that name, while
 * tools use an address, `localhost` or the configured host. Returns null if there is no objection.
 */
export function browserRefusal(fields: GuardedFields, configuredHost: string): AdminAnswer | null {
  if (fields.origin !== undefined) {
    return problemAnswer(
      'GW_ADMIN_ORIGIN_REFUSED',
      'requests with an Origin header are refused; use gw or another tool that is not a browser',
    )
  }
  if (fields.host !== undefined && isAllowedHost(hostOf(fields.host), configuredHost)) return null
  const detail = `the Host header must be an IP address, localhost or '${configuredHost}'`
  return problemAnswer('GW_ADMIN_HOST_REFUSED', detail)
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
