import { type Exchange, preflightMethod } from '@sluice/core'
import { doAtOnce } from '../lib/do-at-once.js'
import type { Candidate } from './candidate.js'
import type { Contender } from './contender.js'
import { HostTable } from './host-table.js'
import { paramValues } from './path-params.js'
import { hasHeadRoute, inPrecedence } from './precedence.js'
import { Search } from './search.js'

/** The answer of a router. It belongs to the router and is overwritten by the next match. */
export interface Match<T> {
  /** The value of the route that won, or null. */
  readonly value: T | null
  /**
   * When nothing won but some route differs in nothing but the method: the methods of all such routes, sorted, as
   * `Allow` lists them. Null otherwise: the path is not known.
   */
  readonly allowed: readonly string[] | null
  /** It depends on the request body: match again with `x.body`. */
  readonly isBodyWanted: boolean
}

/** Finds the route of a request; also sets the exchange's `params` and `paramNames` for the route that won. */
export interface Router<T> {
  match(x: Exchange): Match<T>
}

/**
 * Compiles routes into a router whose cost per request does not grow with their number, regex paths aside: those of
 * one host pattern are tried one after the other.
 *
 *     request ─► host table ─┬─► paths of the exact host ────┬─► exact: one map
 *                            ├─► paths of each wildcard host ├─► templates and prefixes: one tree
 *                            └─► paths of every host         ├─► regexes: a list
 *                                                            └─► no path: a list
 *
 * Every route has a number for its precedence at each of its hosts. All places that can hold a route for the request
 * are looked at, except those whose best number is worse than the one already found; nearly always that is one place.
 *
 * @throws RangeError when a template or prefix has more than 64 segments, SyntaxError when a regex is not valid.
 */
export function compileRouter<T>(candidates: readonly Candidate<T>[]): Router<T> {
  return doAtOnce(buildRouter(candidates))
}

/** Compiles a router in steps, between which something else may be done. */
export function* buildRouter<T>(candidates: readonly Candidate<T>[]): Generator<void, Router<T>> {
  const hosts = yield* buildHosts(candidates, false)
  const headHosts = hasHeadRoute(candidates) ? yield* buildHosts(candidates, true) : hosts
  const router = new CompiledRouter(hosts, headHosts)
  const answering = candidates.filter(({ answersPreflights }) => answersPreflights === true)
  if (answering.length === 0) return router
  return new PreflightRouter(router, new Set(answering.map(({ value }) => value)))
}

function* buildHosts<T>(
  candidates: readonly Candidate<T>[],
  forHead: boolean,
): Generator<void, HostTable<T>> {
  const hosts = new HostTable<T>()
  let rank = 0
  for (const placement of yield* inPrecedence(candidates, forHead)) {
    hosts.add(placement, rank++)
    yield
  }
  return hosts
}

const NONE: readonly string[] = []

class Answer<T> implements Match<T> {
  value: T | null = null
  allowed: readonly string[] | null = null
  isBodyWanted = false
}

class CompiledRouter<T> implements Router<T> {
  private readonly hosts: HostTable<T>
  /** The order for HEAD differs where one route names HEAD and another serves it through GET. */
  private readonly headHosts: HostTable<T>
  private readonly search = new Search<T>()
  private readonly answer = new Answer<T>()

  constructor(hosts: HostTable<T>, headHosts: HostTable<T>) {
    this.hosts = hosts
    this.headHosts = headHosts
  }

  match(x: Exchange): Match<T> {
    const hosts = x.method === 'HEAD' ? this.headHosts : this.hosts
    const search = this.search
    search.begin()
    hosts.find(search, x)
    const winner = search.winner
    this.answer.isBodyWanted = search.isBodyWanted
    if (winner !== null) return this.hit(x, winner)
    return search.isBodyWanted ? this.undecided() : this.miss(x, hosts)
  }

  private undecided(): Match<T> {
    this.answer.value = null
    this.answer.allowed = null
    return this.answer
  }

  private hit(x: Exchange, winner: Contender<T>): Match<T> {
    x.paramNames = winner.paramNames
    x.params = winner.paramNames.length === 0 ? NONE : paramValues(x.path, winner.paramPlaces)
    this.answer.value = winner.value
    this.answer.allowed = null
    return this.answer
  }

  /** A second look at the same places finds which methods would have been accepted. */
  private miss(x: Exchange, hosts: HostTable<T>): Match<T> {
    x.paramNames = NONE
    x.params = NONE
    this.answer.value = null
    this.answer.allowed = this.search.isMethodRefused ? this.search.allowedMethods(x, hosts) : null
    return this.answer
  }
}

/** A router that gives a preflight to the route of the request it asks for, where that route answers preflights. */
class PreflightRouter<T> implements Router<T> {
  private readonly router: Router<T>
  private readonly answering: ReadonlySet<T>

  constructor(router: Router<T>, answering: ReadonlySet<T>) {
    this.router = router
    this.answering = answering
  }

  match(x: Exchange): Match<T> {
    if (x.method === 'OPTIONS') {
      const asked = preflightMethod(x)
      const match = asked === null ? null : this.matchAs(asked, x)
      if (match !== null) return match
    }
    return this.router.match(x)
  }

  private matchAs(method: string, x: Exchange): Match<T> | null {
    x.method = method
    try {
      const match = this.router.match(x)
      return match.value !== null && this.answering.has(match.value) ? match : null
    } finally {
      x.method = 'OPTIONS'
    }
  }
}
