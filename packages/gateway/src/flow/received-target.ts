import { type Exchange, withQuery } from '@sluice/core'

/** Returns the path and query for the target if no rewrite changes them. */
export function receivedTarget(x: Exchange): string {
  return withQuery(x.forwardPath, x)
}
