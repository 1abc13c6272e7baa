import type { PathPlan } from '@sluice/config'

/** Returns the names of a path's parameters, left to right. */
export function paramNames(path: PathPlan): readonly string[] {
  return path.segments.flatMap((segment) => (segment.kind === 'param' ? [segment.name] : []))
}

/** Returns the indexes of the path segments that are parameters, counted from 0. */
export function paramPlaces(path: PathPlan): readonly number[] {
  return path.segments.flatMap((segment, place) => (segment.kind === 'param' ? [place] : []))
}

/**
 * Returns the segments of a canonical path at the given positions, undecoded. The path must have them, and the
 * positions must be ascending.
 */
export function paramValues(path: string, places: readonly number[]): string[] {
  const values: string[] = []
  let start = 1
  let place = 0
  for (let i = 0; i < places.length; i++) {
    for (; place < places[i]!; place++) start = path.indexOf('/', start) + 1
    const end = path.indexOf('/', start)
    values.push(end === -1 ? path.slice(start) : path.slice(start, end))
  }
  return values
}
