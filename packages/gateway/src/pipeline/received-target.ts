import { type Exchange, isAmbiguousPath } from '@sluice/core'

/** Path and query for the target where no rewrite changes them: as the client sent them, unless that is ambiguous. */
export function receivedTarget(x: Exchange): string {
  const path = x.path === x.rawPath || !isAmbiguousPath(x.rawPath) ? x.rawPath : x.path
  return x.query === '' ? path : path + '?' + x.query
}
