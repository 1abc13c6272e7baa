import { isIP } from 'node:net'
import type { TargetPlan, UpstreamPlan } from '@sluice/config'
import type { CachedClock } from '../data-plane/lib/cached-clock.js'
import { ClientShares } from '../data-plane/upstream/client-shares.js'
import { createConnector, type TlsOptions } from '../data-plane/upstream/connector.js'
import type { Endpoint } from '../data-plane/upstream/endpoints.js'
import { WireTransport } from '../data-plane/upstream/http1/wire-transport.js'
import { H2Transport } from '../data-plane/upstream/http2/h2-transport.js'
import type { Network } from '../data-plane/upstream/network.js'
import type { EjectionPool } from '../data-plane/upstream/state/ejection.js'
import { TargetState } from '../data-plane/upstream/state/target-state.js'
import type { Target } from '../data-plane/upstream/target.js'
import type { Transport } from '../data-plane/upstream/transport.js'
import type { ProxyOptions } from '../data-plane/upstream/tunnel.js'
import { UndiciTransport, type UndiciTransportOptions } from '../data-plane/upstream/undici-transport.js'
import { UpgradeTransport } from '../data-plane/upstream/upgrade-attempt.js'
import type { Report } from '../data-plane/upstream/upstream.js'

/** Makes a target of a plan's, for one of its addresses; null: for all that the system finds. */
export type CreateTarget = (target: TargetPlan, endpoint: Endpoint | null) => Target

/** Levels of failover targets are so far apart that the priorities of a service fit between them. */
const LEVEL_STEP = 65_536

/** What the targets of an upstream share. */
export interface TargetSource {
  readonly network: Network
  readonly clock: CachedClock
  readonly pool: EjectionPool
  readonly report: Report
}

/** How the targets of an upstream are made. */
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
      ...network,
    }
    const state = new TargetState({
      breaker: plan.breaker,
      outlier: plan.outlier,
      pool,
      onChange: (condition) =>
        report('target_condition', { upstream: plan.name, target: url.origin, condition }),
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
      shares: new ClientShares(plan.connections),
      active: 0,
      capacity: plan.connections + plan.maxPending,
      attempts: 0,
      failures: 0,
      doubtsKept: false,
      turn: 0,
    }
    state.attach(created)
    return created
  }
}

function createTransport(plan: UpstreamPlan, options: UndiciTransportOptions, clock: CachedClock): Transport {
  const { http2, transport } = plan
  const isSecure = options.tls !== null
  if (http2 === 'prior-knowledge') return new H2Transport({ ...options, fallback: null })
  if (http2 === 'auto' && isSecure)
    return new H2Transport({ ...options, fallback: new UndiciTransport(options) })
  if (isSecure || transport === 'undici' || options.proxy) return new UndiciTransport(options)
  return new WireTransport({ ...options, clock })
}

/** The outbound proxy of an upstream; null: there is none. */
export function proxyOptions({ proxy }: UpstreamPlan): ProxyOptions | null {
  if (proxy === null) return null
  const url = new URL(proxy.url)
  const { username, password } = proxy
  const credentials = Buffer.from(`${username}:${password}`).toString('base64')
  return {
    host: hostOf(url),
    port: portOf(url),
    authorization: username === null ? null : `Basic ${credentials}`,
  }
}

/** A connection to an address asks for the certificate of the name that the address came from. */
function withName(tls: TlsOptions, name: string): TlsOptions {
  const isName = name !== '' && isIP(name) === 0
  return isName && tls.servername === null ? { ...tls, servername: name } : tls
}

/** The host of a URL; an IPv6 address without its brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

/** The port of a URL, that of its scheme when it names none. */
export function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80)
}
