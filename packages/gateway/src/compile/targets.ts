import { isIP } from 'node:net'
import type { TargetPlan, UpstreamPlan } from '@sluice/config'
import type { CachedClock } from '../lib/cached-clock.js'
import type { Report } from '../telemetry/operation-log.js'
import { ClientConnectionQuota } from '../upstream/client-connection-quota.js'
import type { Endpoint } from '../upstream/endpoints.js'
import { UpgradeTransport } from '../upstream/http1/upgrade-attempt.js'
import { WireTransport } from '../upstream/http1/wire-transport.js'
import { H2Transport } from '../upstream/http2/h2-transport.js'
import type { EjectionPool } from '../upstream/state/ejection.js'
import { TargetState } from '../upstream/state/target-state.js'
import type { Target } from '../upstream/target.js'
import { TargetTraffic } from '../upstream/target-traffic.js'
import { hostOf, portOf, proxyOptions } from '../upstream/transport/connect-options.js'
import type { TransportOptions } from '../upstream/transport/connector.js'
import { createConnector, type TlsOptions } from '../upstream/transport/connector.js'
import type { Network } from '../upstream/transport/network.js'
import type { Transport } from '../upstream/transport/transport.js'
import { UndiciTransport } from '../upstream/undici/undici-transport.js'

/** Creates a target for one of its addresses. With null, the system resolves its name when connecting. */
export type CreateTarget = (target: TargetPlan, endpoint: Endpoint | null) => Target

/** Distance between failover levels, so that the priorities within a service fit in between. */
const LEVEL_STEP = 65_536

/** Dependencies shared by an upstream's targets. */
export interface TargetSource {
  readonly network: Network
  readonly clock: CachedClock
  readonly pool: EjectionPool
  readonly report: Report
}

/** Returns a function that creates an upstream's targets. */
export function targetFactory(
  plan: UpstreamPlan,
  tls: TlsOptions,
  { network, clock, pool, report }: TargetSource,
): CreateTarget {
  return (target, endpoint) => {
    const url = new URL(target.url)
    const host = hostOf(url)
    const level = target.role === 'failover' ? target.priority : 0
    const options = {
      host: endpoint?.address ?? host,
      port: endpoint?.port ?? portOf(url),
      origin: url.origin,
      tls: url.protocol === 'https:' ? withName(tls, endpoint === null ? '' : host) : null,
      connections: plan.connections,
      pendingTimeoutMs: plan.pendingTimeoutMs,
      keepAliveMs: plan.keepAliveMs,
      maxHeaderBytes: plan.maxHeaderBytes,
      proxy: proxyOptions(plan),
      owner: plan.name,
      ...network,
    }
    const state = new TargetState({
      breaker: plan.breaker,
      outlier: plan.outlier,
      pool,
      onChange: (condition, figures) =>
        report('target_condition', { upstream: plan.name, target: url.origin, condition, ...figures }),
    })
    const created = {
      origin: url.origin,
      authority: url.host,
      address: endpoint === null ? null : `${endpoint.address} ${options.port}`,
      weight: target.weight * (endpoint?.weight ?? 1),
      role: target.role,
      level: level * LEVEL_STEP + (endpoint?.priority ?? 0),
      isAvailable: true,
      state,
      transport: createTransport(plan, options, clock),
      upgrades: new UpgradeTransport(createConnector(options), plan.maxHeaderBytes),
      quota: new ClientConnectionQuota(plan.connections),
      active: 0,
      capacity: plan.connections + plan.maxPending,
      traffic: new TargetTraffic(),
      attempts: 0,
      failures: 0,
      suspectsStale: false,
      turn: 0,
    }
    state.attach(created)
    return created
  }
}

function createTransport(plan: UpstreamPlan, options: TransportOptions, clock: CachedClock): Transport {
  const { http2, transport } = plan
  const isSecure = options.tls !== null
  if (http2.priorKnowledge) return new H2Transport({ ...options, fallback: null, clock })
  if (http2.alpn && isSecure)
    return new H2Transport({ ...options, fallback: new UndiciTransport(options), clock })
  if (isSecure || transport === 'undici' || options.proxy) return new UndiciTransport(options)
  return new WireTransport({ ...options, clock })
}

/** Makes a connection to a resolved address verify the certificate against the original name. */
function withName(tls: TlsOptions, name: string): TlsOptions {
  const isName = name !== '' && isIP(name) === 0
  return isName && tls.servername === null ? { ...tls, servername: name } : tls
}
