import {
  HttpCallFailed,
  type HttpClientOptions,
  type HttpClientTls,
  messageOf,
  parseDuration,
} from '@sluice/core'

/** Maximum timeout of a policy's call to another server. */
const MAX_TIMEOUT_MS = 20_000

/**
 * Returns the timeouts and TLS options of an HTTP client, from `timeout` and `tls` of a policy.
 * @param key name of the `timeout` option in messages.
 * @throws Error for an invalid or too long duration.
 */
export function callOptions(
  { timeout, tls }: { readonly timeout: string; readonly tls?: HttpClientTls | undefined },
  key = 'timeout',
): Omit<HttpClientOptions, 'origin'> & { readonly totalMs: number } {
  const totalMs = parseDuration(timeout)
  if (totalMs < 1 || totalMs > MAX_TIMEOUT_MS) throw new Error(`'${key}' must be between 1ms and 20s`)
  return { connectMs: totalMs, headersMs: totalMs, totalMs, ...(tls !== undefined && { tls }) }
}

/**
 * Parses a duration in milliseconds.
 * @param key name of the option in messages.
 * @throws Error for an invalid or too long duration.
 */
export function durationWithin(maxMs: number, written: string, key: string): number {
  const ms = parseDuration(written)
  if (ms > maxMs) throw new Error(`'${key}' is longer than ${maxMs / 1000} s; shorten it`)
  return ms
}

/** Returns the description of a failed call for logs. */
export function reasonOf(error: unknown): string {
  if (error instanceof HttpCallFailed) return `${error.failure}: ${error.message}`
  return messageOf(error)
}
