import { type Exchange, withQuery } from '@sluice/core'

/** Path and query for the target where no rewrite changes them. */
export function receivedTarget(x: Exchange): string {
  return withQuery(x.forwardPath, x)
}
