import type { Exchange } from '@sluice/core'
import type { Contender } from './contender.js'

/** Worse than every rank; a small integer, so that comparisons stay cheap. */
const UNRANKED = 0x3fffffff

/** State of one lookup. Each router has one instance and reuses it for every request. */
export class Search<T> {
  /** Rank of the winner so far. Tables whose best rank is not lower can be skipped. */
  rank = UNRANKED
  winner: Contender<T> | null = null
  /** True if the best contender so far needs the request body. */
  isBodyWanted = false
  /** True if a route was skipped because of its method, before its other predicates were tested. */
  isMethodRefused = false
  private allowed: Set<string> | null = null

  begin(): void {
    this.rank = UNRANKED
    this.winner = null
    this.isBodyWanted = false
    this.isMethodRefused = false
    this.allowed = null
  }

  /** Offers contenders whose host and path match, best first. */
  offer(contenders: readonly Contender<T>[], x: Exchange): void {
    if (this.allowed !== null) {
      collectMethods(contenders, x, this.allowed)
      return
    }
    for (let i = 0; i < contenders.length; i++) {
      const contender = contenders[i]!
      if (contender.rank >= this.rank) return
      if (!contender.serves(x.method)) {
        this.isMethodRefused = true
      } else if (contender.readsBody && contender.waitsForBody(x)) {
        this.rank = contender.rank
        this.winner = null
        this.isBodyWanted = true
        return
      } else if (contender.accepts(x)) {
        this.rank = contender.rank
        this.winner = contender
        this.isBodyWanted = false
        return
      }
    }
  }

  /** Begins a lookup that collects the methods of the routes that match in everything but the method. */
  beginMethods(): void {
    this.begin()
    this.allowed = new Set()
  }

  /** Ends a lookup begun by `beginMethods`. Returns the methods, sorted, or null if there are none. */
  endMethods(): readonly string[] | null {
    const allowed = this.allowed
    this.allowed = null
    return allowed === null || allowed.size === 0 ? null : [...allowed].sort()
  }
}

/** Not on the hot path: only used for requests that are answered with 405. */
function collectMethods<T>(contenders: readonly Contender<T>[], x: Exchange, allowed: Set<string>): void {
  for (const contender of contenders) {
    if (contender.methods === null || contender.serves(x.method) || !contender.accepts(x)) continue
    for (const method of contender.methods) allowed.add(method)
  }
}
