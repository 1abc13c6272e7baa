import type { Plan, UpstreamPlan } from '@sluice/config'
import { KnownServices } from '../kubernetes/known-services.js'
import type { CachedClock } from '../lib/cached-clock.js'
import type { Closer, SharedTable } from '../lib/shared-table.js'
import type { Report } from '../telemetry/operation-log.js'
import { Discovery } from '../upstream/discovery.js'
import { EjectionPool } from '../upstream/state/ejection.js'
import { readTls } from '../upstream/transport/connect-options.js'
import type { TlsOptions } from '../upstream/transport/connector.js'
import type { Network } from '../upstream/transport/network.js'
import { Upstream } from '../upstream/upstream.js'
import { targetFactory } from './targets.js'

interface UpstreamSource {
  readonly shared: SharedTable
  readonly network: Network
  readonly clock: CachedClock
  readonly report: Report
}

/**
 * Compiles a plan's upstreams by name. An unchanged upstream is reused with its connections and counters. The
 * generator yields after each.
 */
export function* compileUpstreams(
  plan: Plan,
  source: UpstreamSource,
  closers: Closer[],
): Generator<void, ReadonlyMap<string, Upstream>> {
  const upstreams = new Map<string, Upstream>()
  for (const upstream of plan.upstreams) {
    const tls = readTls(upstream.tls)
    const key = `upstream:${JSON.stringify([upstream, tls])}`
    const { value, release } = source.shared.acquire(key, () => createUpstream(upstream, tls, source))
    closers.push(release)
    upstreams.set(upstream.name, value)
    yield
  }
  return upstreams
}

function createUpstream(plan: UpstreamPlan, tls: TlsOptions, source: UpstreamSource): Upstream {
  const pool = new EjectionPool(plan.outlier?.maxEjected ?? 0)
  const create = targetFactory(plan, tls, { ...source, pool })
  const hasServices = plan.targets.some(({ service }) => service !== undefined)
  // The pods of a Service are unknown until the supervisor sends them.
  const first = plan.targets.map((target) => (target.service === undefined ? create(target, null) : null))
  const targets = first.filter((target) => target !== null)
  const upstream = new Upstream(plan, targets, { report: source.report, pool })
  if (plan.resolve !== null || hasServices) {
    const { lookup, services = new KnownServices() } = source.network
    upstream.follow(new Discovery({ plan, lookup, services, first, create }, upstream))
  }
  return upstream
}
