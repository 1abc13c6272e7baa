import { type Exchange, preflightMethod, type RoutedExchange } from '@sluice/core'
import { runToCompletion } from '../lib/run-to-completion.js'
import type { Candidate } from './candidate.js'
import type { Contender } from './contender.js'
import { HostTable } from './host-table.js'
import { paramValues } from './path-params.js'
import { hasHeadRoute, sortByPrecedence } from './precedence.js'
import { Search } from './search.js'

/** Result of a lookup. It belongs to the router and is overwritten by the next lookup. */
export interface Match<T> {
  /** Value of the matching route, or null. */
  readonly value: T | null
  /** Methods for the `Allow` field, sorted, if routes match in everything but the method. Null otherwise. */
  readonly allowed: readonly string[] | null
  /** True if the result depends on the request body. Match again once `x.body` is set. */
  readonly isBodyWanted: boolean
}

/** Finds the route of a request, and sets `params` and `paramNames` of the exchange for that route. */
export interface Router<T> {
  match(x: Exchange): Match<T>
}

/**
 * Compiles routes into a router whose cost per request does not grow with the number of routes. Regex paths are the
 * exception: those of one host pattern are tested one by one.
 *
 *     request ─► host table ─┬─► paths of the exact host ────┬─► exact: one map
 *                            ├─► paths of each wildcard host ├─► templates and prefixes: one tree
 *                            └─► paths of every host         ├─► regexes: a list
 *                                                            └─► no path: a list
 *
 * Every route has a rank under each of its hosts. All tables that can hold a matching route are searched, except those
 * whose best rank is worse than the current winner. Nearly always one table remains.
 *
 * @throws RangeError if a template or prefix has more than 64 segments, SyntaxError if a regex is invalid.
 */
export function compileRouter<T>(candidates: readonly Candidate<T>[]): Router<T> {
  return runToCompletion(buildRouter(candidates))
}

/** Compiles a router in steps, so that other work can run in between. */
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
  for (const placement of yield* sortByPrecedence(candidates, forHead)) {
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
  /** Order for HEAD, which differs if one route names HEAD and another serves it through GET. */
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

  private hit(x: RoutedExchange, winner: Contender<T>): Match<T> {
    x.paramNames = winner.paramNames
    x.params = winner.paramNames.length === 0 ? NONE : paramValues(x.path, winner.paramPlaces)
    this.answer.value = winner.value
    this.answer.allowed = null
    return this.answer
  }

  /** Searches again to find the methods that would have matched. */
  private miss(x: RoutedExchange, hosts: HostTable<T>): Match<T> {
    x.paramNames = NONE
    x.params = NONE
    this.answer.value = null
    this.answer.allowed = this.search.isMethodRefused ? this.allowedMethods(x, hosts) : null
    return this.answer
  }

  private allowedMethods(x: Exchange, hosts: HostTable<T>): readonly string[] | null {
    this.search.beginMethods()
    hosts.find(this.search, x)
    return this.search.endMethods()
  }
}

/** A router that sends a CORS preflight to the route of the requested method, if that route answers preflights. */
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
