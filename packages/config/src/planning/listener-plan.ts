import { parseDuration, parseSize } from '@sluice/core'
import { isFlaw } from '../flaw.js'
import { type Address, parseAddress } from '../grammar/address.js'
import type { AdminPlan, ListenerPlan, ListenerTlsPlan } from '../plan.js'
import type { Document, ListenerDocument } from '../schema/document.js'

/** A listener of the plan. */
export function listenerPlan(listener: ListenerDocument): ListenerPlan {
  const { limits } = listener
  return {
    ...addressOf(listener.address),
    engine: listener.engine,
    tls: tlsPlan(listener.tls),
    trustedProxies: [...listener.trustedProxies].sort(),
    health: listener.health,
    paths: listener.paths,
    limits: {
      headerBytes: parseSize(limits.headerBytes),
      headers: limits.headers,
      urlBytes: parseSize(limits.urlBytes),
      bodyBytes: parseSize(limits.bodyBytes),
      connections: limits.connections,
      bodyIdleMs: parseDuration(limits.bodyIdle),
    },
  }
}

/** The admin API of the plan; its tokens stand in the order of their ids. */
export function adminPlan({ address, tls, tokens }: Document['admin']): AdminPlan {
  const sorted = tokens.map(({ id, sha256, role }) => ({ id, sha256, role }))
  sorted.sort((a, b) => (a.id < b.id ? -1 : 1))
  return { ...addressOf(address), tls: tlsPlan(tls), tokens: sorted }
}

function tlsPlan(tls: { certFile: string; keyFile: string } | undefined): ListenerTlsPlan | null {
  return tls === undefined ? null : { certFile: tls.certFile, keyFile: tls.keyFile }
}

function addressOf(text: string): Address {
  const address = parseAddress(text)
  if (isFlaw(address)) throw new Error(`unchecked address: ${address.message}`)
  return address
}
