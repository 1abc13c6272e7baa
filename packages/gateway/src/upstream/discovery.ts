import { promises } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { ResolvePlan, TargetPlan, UpstreamPlan } from '@sluice/config'
import type { KnownServices } from '../kubernetes/known-services.js'
import { type Endpoint, EndpointFinder, type Endpoints, keyOf } from './endpoints.js'
import type { Target } from './target.js'

/** Timeout in milliseconds, and number of tries, for a DNS query. */
const QUERY_MS = 1000
const QUERY_TRIES = 2
/** Delay before the first retry after a failure, in milliseconds. It doubles each time. */
const RETRY_MS = 1000
/** Interval of the checks whether a removed target has finished its last request, in milliseconds. */
const DRAIN_MS = 250

interface DiscoveryOptions {
  readonly plan: UpstreamPlan
  /** System lookup for names that are not in DNS. */
  readonly lookup: LookupFunction
  /** Source of the pods of Kubernetes Services. */
  readonly services: KnownServices
  /** Initial target for each target of the plan, or null if there is none. */
  readonly first: readonly (Target | null)[]
  create(target: TargetPlan, endpoint: Endpoint): Target
}

/** Holder of the discovered targets. */
export interface TargetHolder {
  setTargets(targets: readonly Target[]): void
}

/**
 * Keeps an upstream's targets in line with the addresses of their names. Until the first DNS response there is one
 * target per name, whose connections use the system lookup. If a query fails, the known addresses stay. A removed
 * address gets no new requests, and its connections close after the last one. The pods of a Service come from the
 * supervisor; without any pods, there is no target.
 */
export class Discovery {
  readonly #watches: NameWatch[]
  readonly #stops: (() => void)[]
  readonly #followed: TargetHolder
  /** Current targets for each target of the plan. */
  readonly #groups: Map<string, Target>[]
  readonly #plan: UpstreamPlan
  readonly #create: DiscoveryOptions['create']
  readonly #draining = new Map<Target, NodeJS.Timeout>()

  constructor({ plan, lookup, services, first, create }: DiscoveryOptions, followed: TargetHolder) {
    this.#plan = plan
    this.#create = create
    this.#followed = followed
    this.#groups = first.map((target) => new Map(target === null ? [] : [['', target]]))
    this.#watches = this.#watchNames(lookup)
    this.#stops = plan.targets.flatMap(({ service }, i) =>
      service === undefined
        ? []
        : [services.follow(service, (pods) => this.#replace(i, pods.map(endpointOf)))],
    )
  }

  #watchNames(lookup: LookupFunction): NameWatch[] {
    const { resolve, targets } = this.#plan
    if (resolve === null) return []
    const resolver = new promises.Resolver({ timeout: QUERY_MS, tries: QUERY_TRIES })
    if (resolve.servers.length > 0) resolver.setServers(resolve.servers)
    const finder = new EndpointFinder(resolver, lookup)
    return targets.flatMap((target, i) => {
      const find = queryOf(target, finder)
      return find === null ? [] : [new NameWatch(find, resolve, (list) => this.#replace(i, list))]
    })
  }

  /** Refreshes all names after a target was unreachable, because their addresses may have changed. */
  refresh(): void {
    for (const watch of this.#watches) watch.refresh()
  }

  stop(): void {
    for (const watch of this.#watches) watch.stop()
    for (const stop of this.#stops) stop()
    for (const target of this.#draining.keys()) this.#close(target)
  }

  #replace(i: number, list: readonly Endpoint[]): void {
    const before = this.#groups[i]!
    const after = new Map<string, Target>()
    for (const endpoint of list) {
      const key = keyOf(endpoint)
      after.set(key, before.get(key) ?? this.#createLike(before, i, endpoint))
    }
    this.#groups[i] = after
    this.#followed.setTargets(this.#groups.flatMap((group) => [...group.values()]))
    for (const [key, target] of before) if (!after.has(key)) this.#drain(target)
  }

  /**
   * Creates a target with the known state of the existing ones. The supervisor's state applies to all addresses of a
   * name.
   */
  #createLike(before: ReadonlyMap<string, Target>, i: number, endpoint: Endpoint): Target {
    const target = this.#create(this.#plan.targets[i]!, endpoint)
    for (const { state } of before.values()) target.state.learn(state.known)
    return target
  }

  #drain(target: Target): void {
    const timer = setInterval(() => {
      if (target.active === 0) this.#close(target)
    }, DRAIN_MS).unref()
    this.#draining.set(target, timer)
  }

  #close(target: Target): void {
    clearInterval(this.#draining.get(target))
    this.#draining.delete(target)
    target.state.close()
    void target.transport.close()
  }
}

/** Converts a pod to an endpoint. All pods of a Service have the same weight. */
function endpointOf({ address, port }: Pick<Endpoint, 'address' | 'port'>): Endpoint {
  return { address, port, priority: 0, weight: 1 }
}

type Find = () => Promise<Endpoints>

/** Returns the query for a target, or null if the target is an address or a Service. */
function queryOf({ url, srv, service }: TargetPlan, finder: EndpointFinder): Find | null {
  if (service !== undefined) return null
  if (srv !== null) return () => finder.findService(srv)
  const host = new URL(url).hostname
  return host.startsWith('[') || isIP(host) !== 0 ? null : () => finder.findHost(host)
}

/** Queries one name repeatedly. */
class NameWatch {
  readonly #find: Find
  readonly #bounds: ResolvePlan
  readonly #onChange: (list: readonly Endpoint[]) => void
  #known = ''
  #failures = 0
  #queriedMono = 0
  #isQuerying = false
  #isStopped = false
  #timer: NodeJS.Timeout | null = null

  constructor(find: Find, bounds: ResolvePlan, onChange: (list: readonly Endpoint[]) => void) {
    this.#find = find
    this.#bounds = bounds
    this.#onChange = onChange
    this.#query()
  }

  /** Queries now, unless that has just been done. */
  refresh(): void {
    if (!this.#isQuerying && performance.now() - this.#queriedMono >= this.#bounds.minTtlMs) this.#query()
  }

  stop(): void {
    this.#isStopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  #query(): void {
    if (this.#isStopped) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#isQuerying = true
    this.#queriedMono = performance.now()
    this.#find().then(
      (endpoints) => this.#onAnswer(endpoints),
      () => this.#queryLater(RETRY_MS * 2 ** Math.min(this.#failures++, 10)),
    )
  }

  #onAnswer({ list, ttlMs }: Endpoints): void {
    if (this.#isStopped) return
    this.#failures = 0
    const known = list.map(keyOf).join()
    if (known !== this.#known) {
      this.#known = known
      this.#onChange(list)
    }
    this.#queryLater(ttlMs)
  }

  #queryLater(ms: number): void {
    this.#isQuerying = false
    if (this.#isStopped) return
    const { minTtlMs, maxTtlMs } = this.#bounds
    const delayMs = Math.min(maxTtlMs, Math.max(minTtlMs, ms))
    this.#timer = setTimeout(() => this.#query(), delayMs).unref()
  }
}
