import type { KubernetesPlan, ServicePlan } from './plan-kubernetes.js'
import type { KeyPairPlan, ListenerPlan } from './plan-listener.js'
import type { LogPlan, RouteLogPlan } from './plan-log.js'
import type { DrainPlan, MetricsPlan, OverloadPlan } from './plan-overload.js'
import type { PluginPlan } from './plan-plugin.js'
import type { CachePlan, StatePlan } from './plan-state.js'
import type { CanaryPlan, HashKey, MirrorPlan, StickyPlan } from './plan-upstream.js'
import type { WebSocketPlan } from './plan-websocket.js'

export type * from './plan-kubernetes.js'
export type * from './plan-listener.js'
export type * from './plan-log.js'
export type * from './plan-overload.js'
export type * from './plan-plugin.js'
export type * from './plan-state.js'
export type * from './plan-upstream.js'
export type * from './plan-websocket.js'

/**
 * The Plan: what a document means, as pure JSON. Defaults are filled, shared policies are written out, routes stand in
 * precedence order, every time is in milliseconds and every size in bytes. It can be printed, compared, stored and
 * sent to another process. Texts may still hold `${env:NAME}` and `${file:PATH}`: their values travel beside the plan
 * (see ConfigBundle) and are put in where the plan is compiled. What is shown to people is made of it by displayPlan.
 */
export interface Plan {
  readonly version: 1
  /** Which gateway this is, for the traffic log; null: nobody said. */
  readonly environment: string | null
  readonly listeners: readonly ListenerPlan[]
  readonly admin: AdminPlan
  /** Worker processes; null: from the tier or the CPU quota. */
  readonly workers: number | null
  /** By name. */
  readonly upstreams: readonly UpstreamPlan[]
  /** The route that wins stands before the one that loses. */
  readonly routes: readonly RoutePlan[]
  readonly log: LogPlan
  readonly metrics: MetricsPlan
  readonly drain: DrainPlan
  readonly overload: OverloadPlan
  /** Null: nothing is shared with other gateways. */
  readonly state: StatePlan | null
  /** Null: policies keep values in the memory of the gateway. */
  readonly cache: CachePlan | null
  /** Absent: the cluster that the gateway runs in, if it does. */
  readonly kubernetes?: KubernetesPlan
  /** In the order of the document. */
  readonly plugins: readonly PluginPlan[]
}

/** A plan with the values of its references; what the supervisor hands to the workers. */
export interface ConfigBundle {
  readonly plan: Plan
  /**
   * Routes as JSON texts. If set, the plan itself has no routes. Texts are cheap to transfer and
   * to compare.
   */
  readonly routeTexts?: readonly string[]
  /** SHA-256 of the plan's canonical JSON, in hexadecimal. */
  readonly digest: string
  /** Reference text (`${env:NAME}`) to value, and the path of a file that a policy reads to its version. Never printed, logged or stored. */
  readonly values: Readonly<Record<string, string>>
}

export interface AdminPlan {
  readonly address: string
  readonly host: string
  readonly port: number
  readonly tls: KeyPairPlan | null
  readonly tokens: readonly AdminToken[]
}

export type AdminRole = 'viewer' | 'operator' | 'admin'

export interface AdminToken {
  readonly id: string
  /** SHA-256 of the token, hexadecimal. */
  readonly sha256: string
  readonly role: AdminRole
}

export interface UpstreamPlan {
  readonly name: string
  readonly targets: readonly TargetPlan[]
  readonly balance: 'round-robin' | 'least-pending' | 'power-of-two' | 'hash'
  readonly hashOn: HashKey | null
  readonly sticky: StickyPlan | null
  /** While less of a level's weight than this share is available, a part of its requests goes to the next level; 0 to 1. */
  readonly spillBelow: number
  /** Null: no target is a canary, or none of them gets anything. */
  readonly canary: CanaryPlan | null
  readonly mirror: MirrorPlan | null
  /** Connections per worker and target. */
  readonly connections: number
  /** Requests that may wait for a connection, per worker and target; one more is answered 503. */
  readonly maxPending: number
  /** Longest wait for one of the connections; then 503. */
  readonly pendingTimeoutMs: number
  /** Idle upstream connections are closed after this time. */
  readonly keepAliveMs: number
  readonly timeouts: TimeoutsPlan
  readonly retry: RetryPlan
  readonly breaker: BreakerPlan | null
  readonly outlier: OutlierPlan | null
  readonly health: HealthPlan | null
  /** While no target is available: 503, or those that are unhealthy or ejected. */
  readonly whenAllDown: 'refuse' | 'try-any'
  readonly tls: UpstreamTlsPlan | null
  readonly proxy: ProxyPlan | null
  /** Null: names are asked for when a connection is opened. */
  readonly resolve: ResolvePlan | null
  /** `auto`: `wire` for http targets, `undici` for https. */
  readonly transport: 'auto' | 'wire' | 'undici'
  /** `auto`: where a target agrees to it in the TLS handshake; `prior-knowledge`: without asking. */
  readonly http2: 'off' | 'auto' | 'prior-knowledge'
  /** Largest response head accepted. */
  readonly maxHeaderBytes: number
  /** Bytes of a response that are read ahead of a slow client, so that the connection becomes free. */
  readonly responseBuffer: number
}

export interface RetryPlan {
  /** Further attempts after the first. */
  readonly attempts: number
  /** Retries per request, 0 to 1. */
  readonly budget: number
  /** Statuses after which a request that may be repeated is sent again. */
  readonly on: readonly number[]
  /** Upper end of the first random wait before that. */
  readonly backoffMs: number
  readonly maxBackoffMs: number
}

/** When a series of attempts counts as bad. */
export interface WindowPlan {
  readonly windowMs: number
  readonly minRequests: number
  /** 0 to 1. */
  readonly failureRatio: number
  /** An attempt whose head takes longer is slow; null: none is. */
  readonly slowAfterMs: number | null
}

export interface BreakerPlan extends WindowPlan {
  /** 0 to 1. */
  readonly slowRatio: number
  readonly openMs: number
  readonly maxOpenMs: number
  /** Requests of a half-open breaker. */
  readonly probes: number
}

export interface OutlierPlan extends WindowPlan {
  readonly consecutiveFailures: number
  readonly ejectMs: number
  readonly maxEjectMs: number
  /** Share of the targets, 0 to 1. */
  readonly maxEjected: number
}

export interface HealthPlan {
  readonly path: string
  readonly intervalMs: number
  /** Share of the interval, 0 to 1. */
  readonly jitter: number
  readonly timeoutMs: number
  readonly unhealthyAfter: number
  readonly healthyAfter: number
  /** First and last status of each range. */
  readonly statuses: readonly (readonly [number, number])[]
  readonly body: string | null
  readonly bodyPattern: string | null
  /** Null: the target's own. */
  readonly host: string | null
  /** Names and values. */
  readonly headers: readonly (readonly [string, string])[]
}

export interface TargetPlan {
  /** The origin, `http://host:port` or `https://host`; with a reference in it, the URL as written until it is resolved. */
  readonly url: string
  /** The service whose hosts and ports are asked for; null: the host of the URL. */
  readonly srv: string | null
  /** The Kubernetes Service whose pods are meant; absent: the host of the URL. */
  readonly service?: ServicePlan
  readonly weight: number
  readonly role: TargetRole
  /** Level of a failover target: the lower one is used first. */
  readonly priority: number
}

export type TargetRole = 'primary' | 'failover' | 'canary' | 'mirror'

/** Milliseconds. */
export interface TimeoutsPlan {
  readonly connectMs: number
  /** From the request's last byte to the response head. */
  readonly headersMs: number
  /** Longest silence within a body, either way. */
  readonly idleMs: number
  /** The whole exchange; 0: no bound. */
  readonly totalMs: number
}

export interface UpstreamTlsPlan {
  readonly caFile: string | null
  readonly certFile: string | null
  readonly keyFile: string | null
  readonly servername: string | null
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  /** `sha256/` and the base64 SHA-256 of a public key; empty: any key. */
  readonly pins: readonly string[]
  readonly insecure: boolean
}

/** How the names of targets are followed. */
export interface ResolvePlan {
  /** Empty: those of the system. */
  readonly servers: readonly string[]
  readonly minTtlMs: number
  readonly maxTtlMs: number
}

/** An HTTP proxy on the way to the targets. */
export interface ProxyPlan {
  readonly url: string
  readonly username: string | null
  readonly password: string | null
}

export interface RoutePlan {
  readonly id: string
  /** What it is a part of; null: of nothing that has a name. */
  readonly api: RouteApiPlan | null
  readonly match: MatchPlan
  readonly priority: number
  /** Which requests an overloaded worker refuses first. */
  readonly criticality: 'low' | 'normal' | 'critical'
  /** Position in the document among the routes of a host that nothing else distinguishes; 0 for nearly all. */
  readonly order: number
  /** What becomes of a path with %2F or %5C. */
  readonly encodedSlashes: 'refuse' | 'keep'
  readonly rewrite: RewritePlan | null
  readonly action: ActionPlan
  /** Those of the upstream, with the route's own over them. Null for routes without an upstream. */
  readonly timeouts: TimeoutsPlan | null
  /** Null: handshakes are refused. */
  readonly websocket: WebSocketPlan | null
  readonly policies: readonly PolicyUse[]
  /** What the traffic log gets of the route; null: what it gets of every route. */
  readonly log: RouteLogPlan | null
}

export interface RouteApiPlan {
  readonly name: string
  readonly group: string | null
  readonly revision: string | null
}

export interface MatchPlan {
  /** Lower case; `*.example.org` matches any number of labels in place of the star. Empty: every host. */
  readonly hosts: readonly string[]
  readonly path: PathPlan
  /** Upper case. Empty: every method. HEAD follows GET. */
  readonly methods: readonly string[]
  readonly headers: readonly FieldPredicate[]
  readonly query: readonly FieldPredicate[]
  readonly when: string | null
  /** What stands for the path (null: itself) and the hosts when the plan is shown, where they came from references. */
  readonly shown?: { readonly path: string | null; readonly hosts: readonly string[] }
}

export interface PathPlan {
  /** As written in the document, with the values of its references. */
  readonly text: string
  /** `exact` /a/b · `template` /a/{id} · `prefix` /a/* and /a/{id}/* · `regex` ~^/a · `any` no path given. */
  readonly kind: 'exact' | 'template' | 'prefix' | 'regex' | 'any'
  /** Canonical segments; for a regex one segment, its source. None where the plan is shown and they come from references. */
  readonly segments: readonly PathSegment[]
}

export type PathSegment =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'param'; readonly name: string }

/** A predicate on a header (name in lower case) or a query parameter. */
export interface FieldPredicate {
  readonly name: string
  readonly test: 'exact' | 'prefix' | 'regex' | 'present' | 'absent'
  readonly value: string
}

export interface RewritePlan {
  /** Replaces what the route's prefix matched. */
  readonly prefix: string | null
  /** A template of the whole path, with `{name}` from the route's parameters. */
  readonly path: string | null
  /** Replaces the first match in the canonical path. */
  readonly regex: { readonly pattern: string; readonly replacement: string } | null
  /** `keep` sends the client's Host, `upstream` the target's, anything else is the value. */
  readonly host: string
}

export type ActionPlan = { readonly kind: 'proxy'; readonly upstream: string } | RespondPlan | RedirectPlan

export interface RespondPlan {
  readonly kind: 'respond'
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  /** In JSON, a reference is written `${env:NAME|json}`: its value is escaped as a part of a JSON string. */
  readonly body: string
}

export interface RedirectPlan {
  readonly kind: 'redirect'
  readonly status: 301 | 302 | 303 | 307 | 308
  readonly scheme: 'http' | 'https' | null
  readonly host: string | null
  readonly port: number | null
  /** A template of the whole path; null keeps the path. */
  readonly path: string | null
  /** Replaces what the route's prefix matched; null: not. */
  readonly prefix: string | null
  readonly keepQuery: boolean
}

export interface PolicyUse {
  /** The shared policy's id, or `route/position` or `group/position` for one written out there. */
  readonly id: string
  readonly use: string
  readonly with: unknown
  readonly when: string | null
  readonly onError: 'fail' | 'continue'
}
