import type { Plan, TargetPlan, UpstreamPlan } from '@sluice/config'
import type { CachedClock } from '../data-plane/lib/cached-clock.js'
import { ClientShares } from '../data-plane/upstream/client-shares.js'
import type { TlsOptions } from '../data-plane/upstream/connector.js'
import { WireTransport } from '../data-plane/upstream/http1/wire-transport.js'
import type { Network } from '../data-plane/upstream/network.js'
import { EjectionPool } from '../data-plane/upstream/state/ejection.js'
import { TargetState } from '../data-plane/upstream/state/target-state.js'
import type { Target } from '../data-plane/upstream/target.js'
import { UndiciTransport } from '../data-plane/upstream/undici-transport.js'
import { Upstream } from '../data-plane/upstream/upstream.js'
import type { Closer, SharedTable } from './shared-table.js'
import { readTls } from './upstream-tls.js'

/** Where upstreams that already serve are found, and how new ones connect. */
export interface UpstreamSource {
  readonly shared: SharedTable
  readonly network: Network
  readonly clock: CachedClock
  /** Reports to the operator. */
  readonly report: (event: string, fields: Readonly<Record<string, unknown>>) => void
}

/**
 * The upstreams of a plan by name. One whose description has not changed is the one that already serves, with its
 * connections and counters.
 */
export function compileUpstreams(
  plan: Plan,
  source: UpstreamSource,
  closers: Closer[],
): ReadonlyMap<string, Upstream> {
  const upstreams = new Map<string, Upstream>()
  for (const upstream of plan.upstreams) {
    const tls = readTls(upstream.tls)
    const key = `upstream:${JSON.stringify([upstream, tls])}`
    const { value, release } = source.shared.acquire(key, () => createUpstream(upstream, tls, source))
    closers.push(release)
    upstreams.set(upstream.name, value)
  }
  return upstreams
}

function createUpstream(plan: UpstreamPlan, tls: TlsOptions, source: UpstreamSource): Upstream {
  const isServing = ({ weight }: TargetPlan): boolean => weight > 0
  const pool = new EjectionPool(plan.targets.filter(isServing).length, plan.outlier?.maxEjected ?? 0)
  return new Upstream(
    plan,
    plan.targets.map((target) => createTarget(plan, target, tls, { ...source, pool })),
  )
}

function createTarget(
  plan: UpstreamPlan,
  target: TargetPlan,
  tls: TlsOptions,
  source: UpstreamSource & { readonly pool: EjectionPool },
): Target {
  const url = new URL(target.url)
  const isTls = url.protocol === 'https:'
  const options = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port) || (isTls ? 443 : 80),
    connections: plan.connections,
    pendingTimeoutMs: plan.pendingTimeoutMs,
    keepAliveMs: plan.keepAliveMs,
    maxHeaderBytes: plan.maxHeaderBytes,
    ...source.network,
  }
  const isWire = !isTls && plan.transport !== 'undici'
  const transport = isWire
    ? new WireTransport({ ...options, clock: source.clock })
    : new UndiciTransport({ ...options, origin: url.origin, tls: isTls ? tls : null })
  const { breaker, outlier } = plan
  const state = new TargetState({
    breaker,
    outlier,
    pool: source.pool,
    onChange: (condition) =>
      source.report('target_condition', { upstream: plan.name, target: url.origin, condition }),
  })
  const created = {
    origin: url.origin,
    authority: url.host,
    weight: target.weight,
    isFailover: target.role === 'failover',
    isAvailable: true,
    state,
    transport,
    shares: new ClientShares(plan.connections),
    active: 0,
    capacity: plan.connections + plan.maxPending,
    attempts: 0,
    failures: 0,
    turn: 0,
  }
  state.attach(created)
  return created
}
