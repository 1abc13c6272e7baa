import type { DocumentPath } from '../diagnostic/document-path.js'
import { areaOf, isWider, overlap, type RouteArea } from './route-overlap.js'
import type { SourceDocument } from './source-document.js'

/** A route or an upstream with its file. */
interface Entry {
  readonly of: SourceDocument
  readonly path: DocumentPath
  /** Kind and name, such as `route 'orders'`. */
  readonly name: string
}

interface PlacedRoute extends Entry {
  readonly area: RouteArea
}

/**
 * Reports routes and upstreams of fragments that conflict with those of other files. Both owners are named.
 * @param part part that changes: its files get the error. Null: the later file does
 */
export function checkConflicts(all: readonly SourceDocument[], part: string | null): void {
  checkNames(all, part)
  checkOverlaps(all, part)
}

function checkNames(all: readonly SourceDocument[], part: string | null): void {
  const seen = new Map<string, Entry>()
  for (const of of all) {
    const routes = of.routes.map(({ id }, i) => ({
      of,
      path: ['routes', i, 'id'],
      name: nameOf('route', id),
    }))
    const upstreams = of.upstreams.map((id) => ({
      of,
      path: ['upstreams', id],
      name: nameOf('upstream', id),
    }))
    for (const one of [...routes, ...upstreams]) {
      const earlier = seen.get(one.name)
      seen.set(one.name, one)
      // The check of the document finds duplicates within base.
      if (earlier === undefined || of.owner === 'base') continue
      report(earlier, one, { part, what: 'has the same name as', remedy: 'rename one of them' })
    }
  }
}

const OVERLAP = { what: 'matches requests of', remedy: 'change the path, host or methods of one' }

/** Reports routes that match requests of other teams, or of routes of base that are not wider. */
function checkOverlaps(all: readonly SourceDocument[], part: string | null): void {
  /** Earlier routes by their first segment; empty if it is not a literal, which only base may have. */
  const index = new Map<string, PlacedRoute[]>([['', []]])
  for (const of of all)
    for (const [i, route] of of.routes.entries()) {
      const one = {
        of,
        path: ['routes', i, 'match'],
        name: nameOf('route', route['id']),
        area: areaOf(route),
      }
      const [first] = one.area.path.segments
      const key = first?.kind === 'literal' ? first.text : ''
      const near = index.get(key) ?? []
      index.set(key, near)
      if (of.owner !== 'base')
        for (const others of [near, index.get('')!])
          for (const other of others) if (isConflict(other, one)) report(other, one, { part, ...OVERLAP })
      near.push(one)
    }
}

function isConflict(other: PlacedRoute, one: PlacedRoute): boolean {
  if (other.of.owner === one.of.owner || !overlap(other.area, one.area)) return false
  return other.of.owner !== 'base' || !isWider(other.area, one.area)
}

interface Conflict {
  readonly part: string | null
  readonly what: string
  readonly remedy: string
}

function report(earlier: Entry, later: Entry, { part, what, remedy }: Conflict): void {
  const isEarlierNew = earlier.of.owner === part && later.of.owner !== part
  const [own, other] = isEarlierNew ? [earlier, later] : [later, earlier]
  const place = `${other.of.file}:${other.of.lineOf(other.path)}`
  own.of.report(
    own.path,
    `the ${own.name} of ${own.of.owner} ${what} the ${other.name} of ${other.of.owner} (${place})`,
    remedy,
  )
}

function nameOf(kind: string, id: unknown): string {
  return `${kind} '${String(id)}'`
}
