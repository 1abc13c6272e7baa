import type { Exchange } from '@sluice/core'

/** Path and query for the target where no rewrite changes them. */
export function receivedTarget(x: Exchange): string {
  return x.query === '' ? x.forwardPath : x.forwardPath + '?' + x.query
}
