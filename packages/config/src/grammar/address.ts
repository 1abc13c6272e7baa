import { ipv4Number } from '@sluice/core'
import type { Issue } from '../diagnostic/issue.js'
import type { Address } from '../plan/plan-listener.js'
import { isHost } from './host.js'

/**
 * Parses `127.0.0.1:8080`, `[::1]:8080`, `localhost:0`, `*:8080` or `:8080`. The last two mean all IPv4
 * addresses.
 */
export function parseAddress(text: string): Address | Issue {
  const url = /^https?:\/\/([^/]+)/i.exec(text)?.[1]
  if (url !== undefined) return issue(text, `remove the scheme: ${url}; tls: enables https`)
  const match = /^(.*):(\d+)$/.exec(text.toLowerCase())
  if (match === null) return issue(text, remedyWithoutPort(text))
  const port = Number(match[2])
  if (port > 65_535) return issue(text, 'the port must be from 0 to 65535')
  const written = match[1]!
  if (!written.startsWith('[') && written.includes(':'))
    return issue(text, 'write an IPv6 host in brackets, for example [::1]:8080')
  const host = written === '*' || written === '' ? '0.0.0.0' : written
  if (!isHost(host)) return issue(text, 'write for example 127.0.0.1:8080')
  return { address: `${host}:${port}`, host: host.replace(/^\[|\]$/g, ''), port }
}

/** True if only this machine can reach the host. */
export function isLoopback(host: string): boolean {
  const ipv4 = ipv4Number(host)
  return host === 'localhost' || host === '::1' || (ipv4 !== -1 && Math.floor(ipv4 / 2 ** 24) === 127)
}

/** Suggests an address for a host or port alone. */
function remedyWithoutPort(text: string): string {
  if (/^\d+$/.test(text))
    return `write 127.0.0.1:${text} for local access only, or :${text} for all addresses`
  return `add a port, for example ${text}:8080`
}

function issue(text: string, remedy: string): Issue {
  return { message: `'${text}' is not a listen address`, remedy }
}
