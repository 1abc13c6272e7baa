import type { Exchange } from '@sluice/core'
import { Contender } from './contender.js'
import { PathTable } from './path-table.js'
import type { Placement } from './precedence.js'
import type { Search } from './search.js'

/**
 * The path tables of every host pattern. A request is looked up under its own host, the wildcards above it, and the
 * routes for every host.
 *
 *     exact      api.example.com ─► paths
 *     wildcards  .example.org    ─► paths      looked up for each suffix of the host that begins at a dot
 *     anyHost                    ─► paths
 */
export class HostTable<T> {
  private readonly exact = new Map<string, PathTable<T>>()
  private readonly wildcards = new Map<string, PathTable<T>>()
  /** 1 at each length that some wildcard has, so that a host with a thousand dots does not cost a thousand lookups. */
  private endingLengths = new Uint8Array(1)
  private anyHost: PathTable<T> | null = null

  /** Adds a route. Call it in order of precedence. */
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
    // The star stands for at least one character, and no wildcard is longer than the table of lengths.
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

/** Returns true if a host pattern matches a host. The host table gives the same result for all patterns at once. */
export function hostMatches(pattern: string, host: string): boolean {
  if (!pattern.startsWith('*.')) return pattern === host
  return host.length >= pattern.length && host.endsWith(pattern.slice(1))
}
