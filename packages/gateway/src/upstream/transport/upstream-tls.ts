import { readFileSync } from 'node:fs'
import type { UpstreamTlsPlan } from '@sluice/config'
import type { TlsOptions } from './connector.js'

/**
 * Reads the TLS files of an upstream.
 * @throws Error if a file cannot be read.
 */
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
