import type { PathPlan } from '@sluice/config'
import type { Exchange } from '@sluice/core'
import type { Contender } from './contender.js'
import type { Search } from './search.js'

/** Maximum number of segments in a template or prefix. Bounds the depth of the tree and of the recursion. */
const MAX_SEGMENTS = 64

/**
 * A segment in the tree of templates and prefixes.
 *
 *     /orders/{id}        root ─ orders ─ {} •          • a template ends here
 *     /orders/{id}/items            │     └─ items •    ∗ a prefix ends here
 *     /orders/open/*                └─ open ∗
 *
 * A path segment may match both a literal and the parameter, so both branches are tried. A branch is skipped if its
 * best rank cannot beat the current winner. A lookup visits only nodes that match the path, and never goes deeper than
 * the longest route, however many slashes the path has. Long lookups need routes that mix literals and parameters in
 * the same positions in many ways; a request alone cannot cause one.
 */
export class PathNode<T> {
  readonly bestRank: number
  private literals: Map<string, PathNode<T>> | null = null
  private param: PathNode<T> | null = null
  /** Templates that end here. */
  private whole: Contender<T>[] | null = null
  /** Prefixes that end here. */
  private below: Contender<T>[] | null = null

  /** @param bestRank rank of the first route added. Routes are added best first. */
  constructor(bestRank: number) {
    this.bestRank = bestRank
  }

  /**
   * Searches this node and those below it.
   * @param start position in the path where this node's next segment begins; past the end if there is none.
   */
  walk(search: Search<T>, x: Exchange, start: number): void {
    const { path } = x
    if (start <= path.length) {
      const slash = path.indexOf('/', start)
      this.descend(search, x, start, slash === -1 ? path.length : slash)
    } else if (this.whole !== null) {
      search.offer(this.whole, x)
    }
    if (this.below !== null) search.offer(this.below, x)
  }

  private descend(search: Search<T>, x: Exchange, start: number, end: number): void {
    if (this.literals !== null) {
      const literal = this.literals.get(x.path.slice(start, end))
      if (literal !== undefined && literal.bestRank < search.rank) literal.walk(search, x, end + 1)
    }
    const param = this.param
    if (param !== null && end > start && param.bestRank < search.rank) param.walk(search, x, end + 1)
  }

  /** Adds a contender under its path. @throws RangeError if the path has too many segments. */
  add(contender: Contender<T>, path: PathPlan): void {
    if (path.segments.length > MAX_SEGMENTS)
      throw new RangeError(
        `path '${path.text}' has more than ${MAX_SEGMENTS} segments; use a shorter template or prefix`,
      )
    let node: PathNode<T> = this
    for (const segment of path.segments) {
      node =
        segment.kind === 'literal'
          ? node.literal(segment.text, contender.rank)
          : node.parameter(contender.rank)
    }
    node.end(contender, path.kind === 'prefix')
  }

  private literal(text: string, rank: number): PathNode<T> {
    this.literals ??= new Map()
    const child = this.literals.get(text) ?? new PathNode<T>(rank)
    this.literals.set(text, child)
    return child
  }

  private parameter(rank: number): PathNode<T> {
    this.param ??= new PathNode(rank)
    return this.param
  }

  private end(contender: Contender<T>, isPrefix: boolean): void {
    if (isPrefix) {
      if (this.below === null) this.below = [contender]
      else this.below.push(contender)
    } else if (this.whole === null) this.whole = [contender]
    else this.whole.push(contender)
  }
}
