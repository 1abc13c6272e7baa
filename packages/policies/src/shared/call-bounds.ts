import { type HttpClientOptions, type HttpClientTls, parseDuration } from '@sluice/core'

/** The longest wait of a policy for another server. */
const MAX_TIMEOUT_MS = 20_000

/**
 * The times and the TLS of a client, from `timeout` and `tls` of a policy.
 * @param key where `timeout` stands, for messages.
 * @throws Error for a time that is none, or too long.
 */
export function callBounds(
  { timeout, tls }: { readonly timeout: string; readonly tls?: HttpClientTls | undefined },
  key = 'timeout',
): Omit<HttpClientOptions, 'origin'> & { readonly totalMs: number } {
  const totalMs = parseDuration(timeout)
  if (totalMs < 1 || totalMs > MAX_TIMEOUT_MS) throw new Error(`'${key}' has to be 1ms to 20s`)
  return { connectMs: totalMs, headersMs: totalMs, totalMs, ...(tls !== undefined && { tls }) }
}

/** A duration in ms. @param key where it stands, for messages. @throws Error when it is longer than may be. */
export function durationWithin(mostMs: number, written: string, key: string): number {
  const ms = parseDuration(written)
  if (ms > mostMs) throw new Error(`'${key}' is longer than ${mostMs / 1000} s; shorten it`)
  return ms
}
