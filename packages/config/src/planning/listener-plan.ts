import { parseDuration, parseSize } from '@sluice/core'
import { isIssue } from '../diagnostic/issue.js'
import { parseAddress } from '../grammar/address.js'
import type { AdminPlan, Http2Plan, KeyPairPlan, ListenerPlan, ListenerTlsPlan } from '../plan/plan.js'
import type { Address, ListenerCertificatePlan } from '../plan/plan-listener.js'
import type { Document, ListenerDocument } from '../schema/document.js'

/** Default of nginx, and the fixed head timeout of uWebSockets.js. */
const KEEP_ALIVE = '75s'
const HEAD_TIMEOUT = '10s'

/** Returns the plan of a listener. */
export function listenerPlan(listener: ListenerDocument): ListenerPlan {
  const { limits } = listener
  return {
    ...addressOf(listener.address),
    engine: listener.engine,
    tls: listenerTlsPlan(listener.tls),
    http2: listener.engine === 'node' ? { ...HTTP2, ...listener.http2 } : null,
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
      bodyBufferBytes: parseSize(limits.bodyBufferBytes),
      connections: limits.connections,
      connectionsPerClient: limits.connectionsPerClient ?? defaultConnectionsPerClient(limits.connections),
      keepAliveMs: parseDuration(limits.keepAlive ?? KEEP_ALIVE),
      headTimeoutMs: parseDuration(limits.headTimeout ?? HEAD_TIMEOUT),
      bodyIdleMs: parseDuration(limits.bodyIdle),
      minBodyRate: parseSize(limits.minBodyRate),
      minReadRate: parseSize(limits.minReadRate),
    },
  }
}

/** Minimum default limit per client. Listeners with fewer connections have no separate limit. */
const MIN_CONNECTIONS_PER_CLIENT = 100

/** Returns the default limit per client: a quarter of all connections. */
function defaultConnectionsPerClient(connections: number): number {
  return Math.min(connections, Math.max(MIN_CONNECTIONS_PER_CLIENT, Math.ceil(connections / 4)))
}

const HTTP2: Http2Plan = { alpn: true, priorKnowledge: false, streams: 100 }

/** Returns the plan of the admin API. Tokens are sorted by id. */
export function adminPlan({ address, tls, tokens, ui }: Document['admin']): AdminPlan {
  const sorted = tokens.map(({ id, sha256, role }) => ({ id, sha256, role }))
  sorted.sort((a, b) => (a.id < b.id ? -1 : 1))
  const keys = tls === undefined ? null : keyPairPlan(tls)
  return { ...addressOf(address), tls: keys, tokens: sorted, ...(ui ? {} : { ui }) }
}

function listenerTlsPlan(tls: ListenerDocument['tls']): ListenerTlsPlan | null {
  if (tls === undefined) return null
  const { certificates, clientCaFile = null, clientCertificate = 'required', minVersion = 'TLSv1.2' } = tls
  const named = certificates.map((each) => ({ ...certificatePlan(each), serverNames: each.serverNames }))
  return { ...certificatePlan(tls), certificates: named, clientCaFile, clientCertificate, minVersion }
}

function certificatePlan(tls: KeyPairPlan & { ocspFile?: string }): ListenerCertificatePlan {
  return { ...keyPairPlan(tls), ...(tls.ocspFile === undefined ? {} : { ocspFile: tls.ocspFile }) }
}

function keyPairPlan({ certFile, keyFile }: KeyPairPlan): KeyPairPlan {
  return { certFile, keyFile }
}

/** Parses an address that has been checked. In a plan for another machine it may contain references. */
export function addressOf(text: string): Address {
  if (text.includes('${')) return { address: text, host: text, port: 0 }
  const address = parseAddress(text)
  if (isIssue(address)) throw new Error(`unchecked address: ${address.message}`)
  return address
}
