import type { ControlPlan } from './plan-control.js'
import type { KubernetesPlan, ServicePlan } from './plan-kubernetes.js'
import type { KeyPairPlan, ListenerPlan } from './plan-listener.js'
import type { LogPlan, RouteLogPlan } from './plan-log.js'
import type { DrainPlan, MetricsPlan, OverloadPlan } from './plan-overload.js'
import type { PluginPlan } from './plan-plugin.js'
import type { CachePlan, StatePlan } from './plan-state.js'
import type { TracingPlan } from './plan-tracing.js'
import type { CanaryPlan, HashKey, MirrorPlan, StickyPlan } from './plan-upstream.js'
import type { VaultPlan } from './plan-vault.js'
import type { WebSocketPlan } from './plan-websocket.js'

export type * from './plan-control.js'
export type * from './plan-kubernetes.js'
export type * from './plan-listener.js'
export type * from './plan-log.js'
export type * from './plan-overload.js'
export type * from './plan-plugin.js'
export type * from './plan-state.js'
export type * from './plan-tracing.js'
export type * from './plan-upstream.js'
export type * from './plan-vault.js'
export type * from './plan-websocket.js'

/**
 * The Plan: a checked document as pure JSON. Defaults are filled in, policy chains are written out, routes
 * are in precedence order, times are in milliseconds and sizes in bytes. A plan can be printed, compared,
 * stored and sent to another process. Strings may contain references such as `${env:NAME}`. The values travel
 * separately (see ConfigBundle) and are filled in when the plan is compiled. Use displayPlan to show a plan.
 */
export interface Plan {
  readonly version: 1
  /** Name of this gateway for the traffic log; null: none. */
  readonly environment: string | null
  readonly listeners: readonly ListenerPlan[]
  readonly admin: AdminPlan
  /** Number of worker processes; null: from the tier or the CPU quota. */
  readonly workers: number | null
  /** Upstreams, sorted by name. */
  readonly upstreams: readonly UpstreamPlan[]
  /** Routes in precedence order: the winner comes first. */
  readonly routes: readonly RoutePlan[]
  readonly log: LogPlan
  readonly metrics: MetricsPlan
  /** Tracing; absent: off. */
  readonly tracing?: TracingPlan
  readonly drain: DrainPlan
  readonly overload: OverloadPlan
  /** Store for shared state; null: none. */
  readonly state: StatePlan | null
  /** Cache server; null: policies store values in the memory of the gateway. */
  readonly cache: CachePlan | null
  /** Access to the Kubernetes API; absent: the cluster that the gateway runs in, if any. */
  readonly kubernetes?: KubernetesPlan
  /** Access to Vault; absent: from the environment. */
  readonly vault?: VaultPlan
  /** Connection to a controller; absent: none. Only that of the start document has an effect. */
  readonly control?: ControlPlan
  /** Plugins in document order. */
  readonly plugins: readonly PluginPlan[]
}

/** A plan and the values of its references, as the supervisor sends it to the workers. */
export interface ConfigBundle {
  readonly plan: Plan
  /** Routes as JSON strings, which are cheap to transfer and compare. If set, `plan.routes` is empty. */
  readonly routeTexts?: readonly string[]
  /** SHA-256 of the plan's canonical JSON, in hexadecimal. */
  readonly digest: string
  /**
   * Values by reference (`${env:NAME}`), and versions of the files that policies read by path. Never printed,
   * logged or stored.
   */
  readonly values: Readonly<Record<string, string>>
}

/** Settings of the admin API. */
export interface AdminPlan {
  readonly address: string
  readonly host: string
  readonly port: number
  readonly tls: KeyPairPlan | null
  readonly tokens: readonly AdminToken[]
  /** False if the dashboard is off; absent if it is served. */
  readonly ui?: boolean
}

/** Role of an admin API token. */
export type AdminRole = 'viewer' | 'operator' | 'admin'

/** A token for the admin API. */
export interface AdminToken {
  readonly id: string
  /** SHA-256 of the token in hexadecimal. */
  readonly sha256: string
  readonly role: AdminRole
}

/** A group of equivalent servers. */
export interface UpstreamPlan {
  readonly name: string
  readonly targets: readonly TargetPlan[]
  readonly balance: 'round-robin' | 'least-pending' | 'power-of-two' | 'hash'
  readonly hashOn: HashKey | null
  readonly sticky: StickyPlan | null
  /**
   * Failover threshold, 0 to 1. While less than this share of a level's weight is available, part of its
   * requests goes to the next level.
   */
  readonly failoverBelow: number
  /** Canary settings; null: no requests go to a canary. */
  readonly canary: CanaryPlan | null
  readonly mirror: MirrorPlan | null
  /** Maximum number of connections per worker and target. */
  readonly connections: number
  /**
   * Maximum number of requests waiting for a connection, per worker and target. More are answered with 503.
   */
  readonly maxPending: number
  /** Maximum time to wait for a connection; then 503. */
  readonly pendingTimeoutMs: number
  /** Time after which idle connections are closed. */
  readonly keepAliveMs: number
  readonly timeouts: TimeoutsPlan
  readonly retry: RetryPlan
  readonly breaker: BreakerPlan | null
  readonly outlier: OutlierPlan | null
  readonly health: HealthPlan | null
  /** True if unhealthy or ejected targets are used while no target is available. Otherwise the response is 503. */
  readonly panicMode: boolean
  readonly tls: UpstreamTlsPlan | null
  readonly proxy: ProxyPlan | null
  /** Background name resolution; null: names are resolved when a connection is opened. */
  readonly resolve: ResolvePlan | null
  /** HTTP client. `auto`: `wire` for http targets, `undici` for https targets. */
  readonly transport: 'auto' | 'wire' | 'undici'
  /** HTTP/2 for targets that negotiate it (ALPN), or for all targets (prior knowledge). */
  readonly http2: { readonly alpn: boolean; readonly priorKnowledge: boolean }
  /** Maximum size of a response head in bytes. */
  readonly maxHeaderBytes: number
  /** Maximum number of response bytes buffered for a slow client, to free the connection early. */
  readonly responseBufferBytes: number
}

/** Retries of failed attempts. */
export interface RetryPlan {
  /** Maximum number of retries per request. */
  readonly attempts: number
  /** Maximum share of retries, 0 to 1. */
  readonly budget: number
  /** Statuses that cause a retry. */
  readonly on: readonly number[]
  /** Maximum random delay before the first retry. */
  readonly backoffMs: number
  readonly maxBackoffMs: number
}

/** Thresholds of a breaker or of outlier detection. */
export interface WindowPlan {
  readonly windowMs: number
  readonly minRequests: number
  /** Share of failed attempts, 0 to 1. */
  readonly failureRatio: number
  /** Time to the response head from which an attempt is slow; null: never. */
  readonly slowAfterMs: number | null
}

/** Circuit breaker of a target. */
export interface BreakerPlan extends WindowPlan {
  /** Share of slow attempts, 0 to 1. */
  readonly slowRatio: number
  readonly openMs: number
  readonly maxOpenMs: number
  /** Number of probe requests while half-open. */
  readonly probes: number
}

/** Outlier detection of an upstream. */
export interface OutlierPlan extends WindowPlan {
  readonly consecutiveFailures: number
  readonly ejectMs: number
  readonly maxEjectMs: number
  /** Maximum share of ejected targets, 0 to 1. */
  readonly maxEjected: number
}

/** Active health checks of an upstream. */
export interface HealthPlan {
  readonly path: string
  readonly intervalMs: number
  /** Random variation as a share of the interval, 0 to 1. */
  readonly jitter: number
  readonly timeoutMs: number
  readonly unhealthyAfter: number
  readonly healthyAfter: number
  /** Healthy statuses, as ranges of first and last status. */
  readonly statuses: readonly (readonly [number, number])[]
  readonly body: string | null
  readonly bodyPattern: string | null
  /** Host header; null: the target's host. */
  readonly host: string | null
  /** Request headers as names and values. */
  readonly headers: readonly (readonly [string, string])[]
}

/** A target of an upstream. */
export interface TargetPlan {
  /**
   * Origin, `http://host:port` or `https://host`. If it contains a reference, the URL as written until the
   * plan is resolved.
   */
  readonly url: string
  /** Name of the SRV record to query; null: the host of the URL is used. */
  readonly srv: string | null
  /** Kubernetes Service whose pods are the targets; absent: the host of the URL is used. */
  readonly service?: ServicePlan
  readonly weight: number
  readonly role: TargetRole
  /** Priority of a failover target; lower numbers are used first. */
  readonly priority: number
}

/** Role of a target. */
export type TargetRole = 'primary' | 'failover' | 'canary' | 'mirror'

/** Timeouts in milliseconds. */
export interface TimeoutsPlan {
  readonly connectMs: number
  /** Maximum time from the last request byte to the response head. */
  readonly headersMs: number
  /** Maximum idle time within a body, in either direction. */
  readonly idleMs: number
  /** Maximum time for the whole exchange; 0: no limit. */
  readonly totalMs: number
}

/** TLS settings for targets. */
export interface UpstreamTlsPlan {
  readonly caFile: string | null
  readonly certFile: string | null
  readonly keyFile: string | null
  readonly servername: string | null
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  /** Pinned public keys: `sha256/` and the base64 SHA-256; empty: any key. */
  readonly pins: readonly string[]
  readonly insecure: boolean
}

/** Background resolution of target names. */
export interface ResolvePlan {
  /** Name servers; empty: the system's. */
  readonly servers: readonly string[]
  readonly minTtlMs: number
  readonly maxTtlMs: number
}

/** HTTP proxy for connections to the targets. */
export interface ProxyPlan {
  readonly url: string
  readonly username: string | null
  readonly password: string | null
}

/** A route. */
export interface RoutePlan {
  readonly id: string
  /** API that the route belongs to; null: none. */
  readonly api: RouteApiPlan | null
  readonly match: MatchPlan
  readonly priority: number
  /** Importance under overload: an overloaded worker rejects `low` first. */
  readonly criticality: 'low' | 'normal' | 'critical'
  /** CPU time per second for the policies in each worker, in milliseconds; null: no limit. */
  readonly cpuBudgetMs: number | null
  /** Document order among routes of a host that are otherwise equal; 0 for nearly all routes. */
  readonly order: number
  /** Handling of paths with %2F or %5C. */
  readonly encodedSlashes: 'refuse' | 'keep'
  readonly rewrite: RewritePlan | null
  readonly action: ActionPlan
  /** Timeouts of the upstream, overridden by those of the route. Null for routes without upstream. */
  readonly timeouts: TimeoutsPlan | null
  /** WebSocket settings; null: handshakes are rejected. */
  readonly websocket: WebSocketPlan | null
  readonly policies: readonly PolicyUse[]
  /** Traffic log settings; null: the defaults. */
  readonly log: RouteLogPlan | null
}

/** Metadata of an API. */
export interface RouteApiPlan {
  readonly name: string
  readonly group: string | null
  readonly revision: string | null
}

/** Requests that a route matches. */
export interface MatchPlan {
  /**
   * Hosts in lower case; `*.example.org` matches any number of labels in place of the star. Empty: any host.
   */
  readonly hosts: readonly string[]
  readonly path: PathPlan
  /** Methods in upper case. GET includes HEAD. Empty: any method. */
  readonly methods: readonly string[]
  readonly headers: readonly FieldPredicate[]
  readonly query: readonly FieldPredicate[]
  readonly when: string | null
  /** Displayed path (null: as is) and hosts, if they come from references. */
  readonly shown?: { readonly path: string | null; readonly hosts: readonly string[] }
}

/** A path pattern. */
export interface PathPlan {
  /** Pattern as written in the document, with references resolved. */
  readonly text: string
  /** `exact` /a/b · `template` /a/{id} · `prefix` /a/* and /a/{id}/* · `regex` ~^/a · `any` no path given. */
  readonly kind: 'exact' | 'template' | 'prefix' | 'regex' | 'any'
  /**
   * Canonical segments; for a regex, its source as one segment. Empty in a displayed plan if the path comes
   * from references.
   */
  readonly segments: readonly PathSegment[]
}

/** A segment of a path pattern. */
export type PathSegment =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'param'; readonly name: string }

/** A predicate on a header (name in lower case) or a query parameter. */
export interface FieldPredicate {
  readonly name: string
  readonly test: 'exact' | 'prefix' | 'regex' | 'present' | 'absent'
  readonly value: string
}

/** Rewriting of requests for the upstream. */
export interface RewritePlan {
  /** Replacement for the part that the route's prefix matched. */
  readonly prefix: string | null
  /** Template of the new path, with `{name}` for the route's parameters. */
  readonly path: string | null
  /** Replacement for the first match in the canonical path. */
  readonly regex: { readonly pattern: string; readonly replacement: string } | null
  /** Host header: `keep` for the client's, `upstream` for the target's, or a fixed value. */
  readonly host: string
}

/** Action of a route. */
export type ActionPlan = { readonly kind: 'proxy'; readonly upstream: string } | RespondPlan | RedirectPlan

/** A response generated by the gateway. */
export interface RespondPlan {
  readonly kind: 'respond'
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  /**
   * Response body. In JSON, references are written `${env:NAME|json}`, so that their values are escaped for a
   * JSON string.
   */
  readonly body: string
}

/** A redirect. */
export interface RedirectPlan {
  readonly kind: 'redirect'
  readonly status: 301 | 302 | 303 | 307 | 308
  readonly scheme: 'http' | 'https' | null
  readonly host: string | null
  readonly port: number | null
  /** Template of the new path; null: unchanged. */
  readonly path: string | null
  /** Replacement for the part that the route's prefix matched; null: unchanged. */
  readonly prefix: string | null
  readonly keepQuery: boolean
}

/** A policy in the chain of a route. */
export interface PolicyUse {
  /** Id of the shared policy, or `route/position` or `group/position` of an inline policy. */
  readonly id: string
  readonly use: string
  readonly with: unknown
  readonly when: string | null
  readonly onError: 'fail' | 'continue'
}
