import type { Counts, Traffic } from '@sluice/core/traffic-rates'

/** Parts of the admin API's answers that the dashboard shows. `GET /openapi.json` describes them. */

/** Answer of `/v1/session`. */
export interface Session {
  readonly name: string
  readonly role: 'viewer' | 'operator' | 'admin'
  readonly isLoginRequired: boolean
}

/** A route in `/v1/metrics`. */
export interface RouteTraffic extends Traffic {
  readonly id: string
  readonly errors: Counts
  readonly policies: Readonly<Record<string, { readonly count: number; readonly seconds: number }>>
}

/** Answer of `/v1/metrics`. */
export interface Metrics {
  readonly at: string
  readonly boundsSeconds: readonly number[]
  readonly total: Traffic
  readonly routes: readonly RouteTraffic[]
  readonly errors: Counts
  readonly certificates: readonly { readonly file: string; readonly expiresSeconds: number | null }[]
}

/** Answer of `/v1/status`. */
export interface Status {
  readonly version: string
  readonly uptimeMs: number
  readonly digest: string | null
  readonly ready: boolean
  readonly reason: string | null
  readonly draining: boolean
  readonly workers: readonly WorkerStatus[]
  readonly warnings: readonly string[]
}

/** A worker process. */
export interface WorkerStatus {
  readonly id: number
  readonly pid: number | null
  readonly state: string
  readonly inFlight: number
  readonly connections: number
  readonly restarts: number
  readonly rssBytes: number
  readonly loopLagMs: number
  readonly uptimeMs: number
}

/** A deployed document. */
export interface Deploy {
  readonly id: string
  readonly at: string
  readonly digest: string
  readonly origin: string
  readonly actor: string
  readonly note: string
}

/** Answer of `/v1/deploys`, newest first. */
export interface History {
  readonly digest: string
  readonly deploys: readonly Deploy[]
}

/** Returns true for the newest deploy of the active document. Older deploys may have the same one. */
export function isActive({ id }: Deploy, { digest, deploys }: History): boolean {
  return deploys.find((deploy) => deploy.digest === digest)?.id === id
}

/** A policy of a route. */
export interface Policy {
  readonly id: string
  readonly use: string
  readonly when: string | null
  readonly with: unknown
}

/** A route of the plan. */
export interface Route {
  readonly id: string
  readonly match: {
    readonly hosts: readonly string[]
    readonly methods: readonly string[]
    readonly path: { readonly text: string }
    readonly when: string | null
  }
  readonly action: { readonly kind: string; readonly upstream?: string; readonly status?: number }
  readonly policies: readonly Policy[]
}

/** A target of an upstream. */
export interface Target {
  readonly url: string
  readonly weight: number
  readonly role: string
  readonly state: {
    readonly health: string
    readonly problem: string | null
    readonly drained: boolean
    readonly workers: Counts
  }
  readonly numbers: Counts
}

/** An upstream with its targets. */
export interface Upstream {
  readonly name: string
  readonly balance: string
  readonly canary?: { readonly percent: number; readonly key: string; readonly abortedWorkers: number }
  readonly targets: readonly Target[]
  readonly numbers: Counts
}

/** A part of a plan that was added, changed or removed. */
export interface Change {
  readonly kind: 'add' | 'change' | 'remove'
  readonly what: string
  readonly name: string
  readonly details: readonly string[]
}

/** Answer of `/v1/explain`. */
export interface Explanation {
  readonly request: {
    readonly method: string
    readonly scheme: string
    readonly host: string
    readonly path: string
    readonly query: string
    readonly clientIp: string
  }
  readonly outcome: 'routed' | 'refused' | 'health'
  readonly refusal: { readonly status: number; readonly code: string; readonly detail: string } | null
  readonly route: {
    readonly id: string
    readonly path: string
    readonly params: Readonly<Record<string, string>>
    readonly policies: readonly ExplainedPolicy[]
    readonly action: {
      readonly kind: 'respond' | 'redirect' | 'proxy'
      readonly status?: number
      readonly location?: string | null
      readonly upstream?: string
      readonly path?: string | null
      readonly targets?: readonly { readonly url: string }[]
    }
  } | null
  readonly losers: readonly { readonly id: string; readonly path: string; readonly reason: string }[]
}

/** A policy of an explained route. */
export interface ExplainedPolicy extends Policy {
  readonly verdict: 'always' | 'true' | 'false' | 'fails' | 'unknown'
  readonly meaning: readonly string[]
  readonly cost: 'cheap' | 'cpu' | 'call'
  readonly measured: { readonly addedMicros: number } | null
  readonly buffers: readonly string[] | null
}
