import type { PathPlan } from '@sluice/config'

/** The names of a path's parameters, left to right. */
export function paramNames(path: PathPlan): readonly string[] {
  return path.segments.flatMap((segment) => (segment.kind === 'param' ? [segment.name] : []))
}

/** Which segments of a path are parameters, counted from 0. */
export function paramPlaces(path: PathPlan): readonly number[] {
  return path.segments.flatMap((segment, place) => (segment.kind === 'param' ? [place] : []))
}

/** The segments of a canonical path at the given places (ascending), as it has them. The path must have them. */
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
