import { readFileSync } from 'node:fs'
import type { UpstreamTlsPlan } from '@sluice/config'
import type { TlsOptions } from '../data-plane/upstream/connector.js'

/** TLS towards the targets of an upstream, with its files read. @throws Error when one cannot be. */
export function readTls(plan: UpstreamTlsPlan | null): TlsOptions {
  const read = (file: string | null | undefined): string | null => (file ? readFileSync(file, 'utf8') : null)
  return {
    ca: read(plan?.caFile),
    cert: read(plan?.certFile),
    key: read(plan?.keyFile),
    servername: plan?.servername ?? null,
    minVersion: plan?.minVersion ?? 'TLSv1.2',
    pins: plan?.pins ?? [],
    isInsecure: plan?.insecure ?? false,
  }
}
