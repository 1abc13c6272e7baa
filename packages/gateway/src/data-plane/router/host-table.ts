import type { Exchange } from '@sluice/core'
import { Contender } from './contender.js'
import { PathTable } from './path-table.js'
import type { Placement } from './precedence.js'
import type { Search } from './search.js'

/**
 * The paths of every host pattern. A request looks at the paths of its own host, of the wildcards above it, and of the
 * routes that take every host.
 *
 *     exact      api.example.com ─► paths
 *     wildcards  .example.org    ─► paths      asked for each ending of the host that begins at a dot
 *     anyHost                    ─► paths
 */
export class HostTable<T> {
  private readonly exact = new Map<string, PathTable<T>>()
  private readonly wildcards = new Map<string, PathTable<T>>()
  /** 1 at each length that some wildcard has, so that a host of a thousand dots costs no thousand lookups. */
  private endingLengths = new Uint8Array(1)
  private anyHost: PathTable<T> | null = null

  /** Adds a route, in the order of precedence. */
  add({ candidate, host }: Placement<T>, rank: number): void {
    this.pathsOf(host, rank).add(new Contender(rank, candidate), candidate.plan.match.path)
  }

  find(search: Search<T>, x: Exchange): void {
    if (this.exact.size > 0) {
      const paths = this.exact.get(x.host)
      if (paths !== undefined) paths.find(search, x)
    }
    if (this.wildcards.size > 0) this.findWildcards(search, x)
    const anyHost = this.anyHost
    if (anyHost !== null && anyHost.bestRank < search.rank) anyHost.find(search, x)
  }

  private findWildcards(search: Search<T>, x: Exchange): void {
    const { host } = x
    // At least one character stands for the star, and no wildcard is longer than the table of lengths.
    let dot = host.indexOf('.', Math.max(1, host.length - this.endingLengths.length + 1))
    while (dot !== -1) {
      if (this.endingLengths[host.length - dot] === 1) {
        const paths = this.wildcards.get(host.slice(dot))
        if (paths !== undefined && paths.bestRank < search.rank) paths.find(search, x)
      }
      dot = host.indexOf('.', dot + 1)
    }
  }

  private pathsOf(host: string | null, rank: number): PathTable<T> {
    if (host === null) {
      this.anyHost ??= new PathTable(rank)
      return this.anyHost
    }
    const isWildcard = host.startsWith('*.')
    const table = isWildcard ? this.wildcards : this.exact
    const key = isWildcard ? host.slice(1) : host
    const known = table.get(key)
    if (known !== undefined) return known
    const paths = new PathTable<T>(rank)
    table.set(key, paths)
    if (isWildcard) this.noteLength(key.length)
    return paths
  }

  private noteLength(length: number): void {
    if (length >= this.endingLengths.length) {
      const longer = new Uint8Array(length + 1)
      longer.set(this.endingLengths)
      this.endingLengths = longer
    }
    this.endingLengths[length] = 1
  }
}

/** Whether a host pattern takes a host; the host table answers the same for all patterns at once. */
export function hostMatches(pattern: string, host: string): boolean {
  if (!pattern.startsWith('*.')) return pattern === host
  return host.length >= pattern.length && host.endsWith(pattern.slice(1))
}
