import type { UpstreamPlan, UpstreamTlsPlan } from '@sluice/config'
import { readTlsFiles } from '@sluice/core'
import type { TlsOptions } from './connector.js'
import type { ProxyOptions } from './tunnel.js'

/** Reads the TLS files of an upstream. @throws Error if a file cannot be used */
export function readTls(plan: UpstreamTlsPlan | null): TlsOptions {
  const { ca, cert, key } = readTlsFiles(plan ?? {})
  return {
    ca: ca?.toString() ?? null,
    cert: cert?.toString() ?? null,
    key: key?.toString() ?? null,
    servername: plan?.servername ?? null,
    minVersion: plan?.minVersion ?? 'TLSv1.2',
    pins: plan?.pins ?? [],
    isInsecure: plan?.insecure ?? false,
  }
}

/** Returns the outbound proxy of an upstream, or null. */
export function proxyOptions({ proxy }: UpstreamPlan): ProxyOptions | null {
  if (proxy === null) return null
  const url = new URL(proxy.url)
  const { username, password } = proxy
  const credentials = Buffer.from(`${username}:${password}`).toString('base64')
  return {
    host: hostOf(url),
    port: portOf(url),
    authorization: username === null ? null : `Basic ${credentials}`,
  }
}

/** Returns the host of a URL, without the brackets of an IPv6 address. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

/** Returns the port of a URL, or its scheme's default. */
export function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80)
}
