import type { Exchange } from '@sluice/core'
import type { Candidate, Predicate } from './candidate.js'
import { compileFieldPredicates } from './field-predicate.js'
import { paramNames, paramPlaces } from './path-params.js'

/** Shared by all contenders without predicates. */
const NONE: readonly Predicate[] = []

/** The remaining checks for a route once its host and path match. There is one per route and host pattern. */
export class Contender<T> {
  /** Precedence among all contenders of the router; the smallest wins. */
  readonly rank: number
  /** Allowed methods, including HEAD if GET is allowed; null for every method. */
  readonly methods: ReadonlySet<string> | null
  readonly paramNames: readonly string[]
  /** Positions of the parameters among the path segments, ascending. */
  readonly paramPlaces: readonly number[]
  readonly value: T
  /** True if its last predicate reads the request body. */
  readonly readsBody: boolean
  private readonly predicates: readonly Predicate[]

  constructor(rank: number, candidate: Candidate<T>) {
    const { match } = candidate.plan
    this.rank = rank
    this.methods = servedMethods(match.methods)
    this.paramNames = paramNames(match.path)
    this.paramPlaces = paramPlaces(match.path)
    this.value = candidate.value
    this.readsBody = candidate.when?.readsBody === true
    const predicates = compileFieldPredicates(match)
    if (candidate.when !== null) predicates.push(candidate.when)
    this.predicates = predicates.length === 0 ? NONE : predicates
  }

  serves(method: string): boolean {
    return this.methods === null || this.methods.has(method)
  }

  /** Tests headers and query first, then the condition. */
  accepts(x: Exchange): boolean {
    return this.passes(x, this.predicates.length)
  }

  /** Returns true if only the condition on the request body is left to test and the body has not been received. */
  waitsForBody(x: Exchange): boolean {
    return x.body === null && x.contentLength !== 0 && this.passes(x, this.predicates.length - 1)
  }

  private passes(x: Exchange, count: number): boolean {
    for (let i = 0; i < count; i++) {
      if (!this.predicates[i]!.test(x)) return false
    }
    return true
  }
}

/**
 * Returns the methods that a route serves: the configured ones, and HEAD with GET (RFC 9110 section 9.3.2). Null stands
 * for every method.
 */
export function servedMethods(named: readonly string[]): ReadonlySet<string> | null {
  if (named.length === 0) return null
  return new Set(named.includes('GET') ? [...named, 'HEAD'] : named)
}
