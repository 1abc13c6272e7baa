import type { Exchange } from './exchange.js'

/**
 * Notes a limit that applied to a request, and what it had left. Of several, the one with the least left is logged:
 * it is the one that refuses first, or has refused.
 * @param remaining 0: it had nothing left, or refused.
 */
export function noteLimit(x: Exchange, name: string, remaining: number): void {
  const { record } = x
  if (record.limitName !== '' && record.limitRemaining <= remaining) return
  record.limitName = name
  record.limitRemaining = remaining
}
