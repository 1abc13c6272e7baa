import { httpDate } from './http-date.js'

/** Reads Retry-After, seconds or a date (RFC 9110 section 10.2.3), as ms from now; 0 when there is none. */
export function retryAfterMs(text: string | undefined, nowMs: number): number {
  if (text === undefined) return 0
  if (/^\d+$/.test(text)) return Number(text) * 1000
  const date = httpDate(text)
  return date === null ? 0 : Math.max(0, date - nowMs)
}
