import { parseDuration, parseSize } from '@sluice/core'
import { isFlaw } from '../flaw.js'
import { type Address, parseAddress } from '../grammar/address.js'
import type { AdminPlan, Http2Plan, KeyPairPlan, ListenerPlan, ListenerTlsPlan } from '../plan.js'
import type { Document, ListenerDocument } from '../schema/document.js'

/** As nginx keeps them, and as long as uWebSockets.js waits for a head. */
const KEEP_ALIVE = '75s'
const HEAD_TIMEOUT = '10s'

/** A listener of the plan. */
export function listenerPlan(listener: ListenerDocument): ListenerPlan {
  const { limits } = listener
  return {
    ...addressOf(listener.address),
    engine: listener.engine,
    tls: listenerTlsPlan(listener.tls),
    http2: http2Plan(listener),
    trustedProxies: [...listener.trustedProxies].sort(),
    proxyProtocol: listener.proxyProtocol,
    allowHalfClose: listener.allowHalfClose,
    forwardedHeader: listener.forwardedHeader,
    health: listener.health,
    paths: listener.paths,
    limits: {
      headerBytes: parseSize(limits.headerBytes),
      headers: limits.headers,
      urlBytes: parseSize(limits.urlBytes),
      bodyBytes: parseSize(limits.bodyBytes),
      bodyBuffer: parseSize(limits.bodyBuffer),
      connections: limits.connections,
      connectionsPerClient: limits.connectionsPerClient ?? shareOf(limits.connections),
      keepAliveMs: parseDuration(limits.keepAlive ?? KEEP_ALIVE),
      headTimeoutMs: parseDuration(limits.headTimeout ?? HEAD_TIMEOUT),
      bodyIdleMs: parseDuration(limits.bodyIdle),
      minBodyRate: parseSize(limits.minBodyRate),
      minReadRate: parseSize(limits.minReadRate),
    },
  }
}

/** So many connections one client may have where nobody says; a listener with few of them is not divided. */
const MIN_SHARE = 100

/** A quarter of all connections. */
function shareOf(connections: number): number {
  return Math.min(connections, Math.max(MIN_SHARE, Math.ceil(connections / 4)))
}

const HTTP2: Http2Plan = { alpn: true, priorKnowledge: false, streams: 100 }

function http2Plan({ engine, http2 }: ListenerDocument): Http2Plan | null {
  return engine === 'node' ? { ...HTTP2, ...http2 } : null
}

/** The admin API of the plan; its tokens stand in the order of their ids. */
export function adminPlan({ address, tls, tokens }: Document['admin']): AdminPlan {
  const sorted = tokens.map(({ id, sha256, role }) => ({ id, sha256, role }))
  sorted.sort((a, b) => (a.id < b.id ? -1 : 1))
  return { ...addressOf(address), tls: tls === undefined ? null : keyPairPlan(tls), tokens: sorted }
}

function listenerTlsPlan(tls: ListenerDocument['tls']): ListenerTlsPlan | null {
  if (tls === undefined) return null
  const { certificates, clientCaFile = null, clientCertificate = 'required', minVersion = 'TLSv1.2' } = tls
  const named = certificates.map((each) => ({ ...keyPairPlan(each), serverNames: each.serverNames }))
  return { ...keyPairPlan(tls), certificates: named, clientCaFile, clientCertificate, minVersion }
}

function keyPairPlan({ certFile, keyFile }: KeyPairPlan): KeyPairPlan {
  return { certFile, keyFile }
}

/** An address that has been checked. */
export function addressOf(text: string): Address {
  const address = parseAddress(text)
  if (isFlaw(address)) throw new Error(`unchecked address: ${address.message}`)
  return address
}
