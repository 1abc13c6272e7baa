import { httpDate } from './http-date.js'

/**
 * Parses Retry-After in seconds or as a date (RFC 9110 section 10.2.3) to milliseconds from now. Returns 0 if
 * it is absent or invalid.
 */
export function retryAfterMs(text: string | undefined, nowMs: number): number {
  if (text === undefined) return 0
  if (/^\d+$/.test(text)) return Number(text) * 1000
  const date = httpDate(text)
  return date === null ? 0 : Math.max(0, date - nowMs)
}
