import { ipv4Number } from '@sluice/core'
import type { Flaw } from '../flaw.js'
import { isHost } from './host.js'

/** An address to listen on. */
export interface Address {
  /** `host:port`; an IPv6 host stands in brackets. */
  readonly address: string
  /** Without brackets. */
  readonly host: string
  readonly port: number
}

/** Reads `127.0.0.1:8080`, `[::1]:8080`, `localhost:0`, `*:8080` or `:8080` (the last two: every IPv4 address). */
export function parseAddress(text: string): Address | Flaw {
  const url = /^https?:\/\/([^/]+)/i.exec(text)?.[1]
  if (url !== undefined) return flaw(text, `leave out the scheme: ${url}; tls: makes it https`)
  const match = /^(.*):(\d{1,5})$/.exec(text.toLowerCase())
  if (match === null) return flaw(text, remedyWithoutPort(text))
  const port = Number(match[2])
  if (port > 65_535) return flaw(text, 'the port is a number from 0 to 65535')
  const written = match[1]!
  if (!written.startsWith('[') && written.includes(':'))
    return flaw(text, 'write an IPv6 host in brackets, for example [::1]:8080')
  const host = written === '*' || written === '' ? '0.0.0.0' : written
  if (!isHost(host)) return flaw(text, 'write for example 127.0.0.1:8080')
  return { address: `${host}:${port}`, host: host.replace(/^\[|\]$/g, ''), port }
}

/** Whether only this machine can reach the host. */
export function isLoopback(host: string): boolean {
  const ipv4 = ipv4Number(host)
  return host === 'localhost' || host === '::1' || (ipv4 !== -1 && Math.floor(ipv4 / 2 ** 24) === 127)
}

/** Of a URL its host and port, of a port alone the address that only this machine can reach. */
function remedyWithoutPort(text: string): string {
  if (/^\d+$/.test(text))
    return `write 127.0.0.1:${text} for this machine only, or :${text} for every address`
  return `add a port, for example ${text}:8080`
}

function flaw(text: string, remedy: string): Flaw {
  return { message: `'${text}' is not an address`, remedy }
}
