import type { Exchange } from '@sluice/core'
import type { Contender } from './contender.js'
import type { HostTable } from './host-table.js'

/** Worse than every rank; a small integer, so that comparisons stay cheap. */
const UNRANKED = 0x3fffffff

/** What one match has found so far. A router has one and uses it for every request. */
export class Search<T> {
  /** The rank of the winner so far: places whose best rank is not below it need no look. */
  rank = UNRANKED
  winner: Contender<T> | null = null
  /** The best of what is known so far is a contender that has to see the body first. */
  isBodyWanted = false
  /** Whether a route was passed over for its method before its other predicates were asked. */
  isMethodRefused = false
  private allowed: Set<string> | null = null

  begin(): void {
    this.rank = UNRANKED
    this.winner = null
    this.isBodyWanted = false
    this.isMethodRefused = false
    this.allowed = null
  }

  /** Takes the contenders of one place, best first, whose host and path match. */
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

  /** The methods of the routes that match but for the method, sorted; null when there are none. */
  allowedMethods(x: Exchange, hosts: HostTable<T>): readonly string[] | null {
    this.begin()
    const allowed = new Set<string>()
    this.allowed = allowed
    hosts.find(this, x)
    this.allowed = null
    return allowed.size === 0 ? null : [...allowed].sort()
  }
}

/** Not on the hot path: only for requests that are about to be answered 405. */
function collectMethods<T>(contenders: readonly Contender<T>[], x: Exchange, allowed: Set<string>): void {
  for (const contender of contenders) {
    if (contender.methods === null || contender.serves(x.method) || !contender.accepts(x)) continue
    for (const method of contender.methods) allowed.add(method)
  }
}
