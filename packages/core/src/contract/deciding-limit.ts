import type { Exchange } from './exchange.js'

/**
 * Records a limit that applied to a request. Of several limits, the one with the fewest remaining tokens is
 * logged, because it refuses requests first.
 * @param remaining Remaining tokens. 0 if the limit is used up or refused the request.
 */
export function noteLimit(x: Exchange, name: string, remaining: number): void {
  const { record } = x
  if (record.limitName !== '' && record.limitRemaining <= remaining) return
  record.limitName = name
  record.limitRemaining = remaining
}
