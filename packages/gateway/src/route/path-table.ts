import type { PathPlan } from '@sluice/config'
import { compileRegex, type Exchange, type Regex } from '@sluice/core'
import type { Contender } from './contender.js'
import { PathNode } from './path-node.js'
import type { Search } from './search.js'

const SLASH = 47

/** Contenders that share a regex, which is tested once for all of them. */
interface RegexPlace<T> {
  readonly source: string
  readonly pattern: Regex
  readonly contenders: Contender<T>[]
}

/**
 * The paths of one host pattern, by kind. Contenders are added best first, so each list is in order and its first
 * contender is the best. Each regex is tested in turn until one has matched that beats all the rest.
 */
export class PathTable<T> {
  readonly bestRank: number
  private readonly exact = new Map<string, Contender<T>[]>()
  private tree: PathNode<T> | null = null
  private readonly regexes: RegexPlace<T>[] = []
  private readonly anyPath: Contender<T>[] = []

  constructor(bestRank: number) {
    this.bestRank = bestRank
  }

  find(search: Search<T>, x: Exchange): void {
    const exact = this.exact.get(x.path)
    if (exact !== undefined) search.offer(exact, x)
    const tree = this.tree
    if (tree !== null && tree.bestRank < search.rank && x.path.charCodeAt(0) === SLASH)
      tree.walk(search, x, 1)
    if (this.regexes.length > 0) this.findRegex(search, x)
    if (this.anyPath.length > 0) search.offer(this.anyPath, x)
  }

  add(contender: Contender<T>, path: PathPlan): void {
    switch (path.kind) {
      case 'exact':
        this.addExact(contender, exactPath(path))
        return
      case 'regex':
        this.addRegex(contender, regexSource(path))
        return
      case 'any':
        this.anyPath.push(contender)
        return
      default:
        this.tree ??= new PathNode(contender.rank)
        this.tree.add(contender, path)
    }
  }

  private findRegex(search: Search<T>, x: Exchange): void {
    for (let i = 0; i < this.regexes.length; i++) {
      const { pattern, contenders } = this.regexes[i]!
      if (contenders[0]!.rank >= search.rank) return
      if (pattern.test(x.path)) search.offer(contenders, x)
    }
  }

  private addExact(contender: Contender<T>, path: string): void {
    const contenders = this.exact.get(path)
    // An array literal has no spare capacity, which would take 128 bytes for each of many paths.
    if (contenders === undefined) this.exact.set(path, [contender])
    else contenders.push(contender)
  }

  private addRegex(contender: Contender<T>, source: string): void {
    const place = this.regexes.find((other) => other.source === source)
    if (place === undefined)
      this.regexes.push({ source, pattern: compileRegex(source), contenders: [contender] })
    else place.contenders.push(contender)
  }
}

/** Returns the canonical path that an exact path matches. */
export function exactPath(path: PathPlan): string {
  return '/' + path.segments.map((segment) => (segment.kind === 'literal' ? segment.text : '')).join('/')
}

/** Returns the source of a regex path. */
export function regexSource(path: PathPlan): string {
  const source = path.segments[0]
  return source?.kind === 'literal' ? source.text : ''
}
