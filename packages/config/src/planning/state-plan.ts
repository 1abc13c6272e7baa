import { parseDuration, parseSize } from '@sluice/core'
import type { CachePlan, CacheServePlan, PersistPlan, StatePlan } from '../plan/plan.js'
import type { CacheServeDocument } from '../schema/cache-serve.js'
import type { Document } from '../schema/document.js'
import { addressOf } from './listener-plan.js'

/** Returns the plan of the store that replicas share. */
export function statePlan(state: NonNullable<Document['state']>): StatePlan {
  const { url = null, cluster = [], username = null, password = null, keyPrefix, timeout } = state
  const { caFile = null, servername = null, insecure } = state.tls
  const tls = { caFile, servername, insecure }
  const slowAfterMs = parseDuration(state.slowAfter)
  return { url, cluster, username, password, keyPrefix, timeoutMs: parseDuration(timeout), slowAfterMs, tls }
}

/** Returns the plan of the cache server in which policies store values. */
export function cachePlan(cache: NonNullable<Document['cache']>): CachePlan {
  const { token = null, timeout, connections, tls } = cache
  const { caFile = null, insecure } = tls
  const serve = cache.serve === undefined ? undefined : cacheServePlan(cache.serve)
  return {
    url: cache.url ?? ownUrl(serve!),
    token,
    timeoutMs: parseDuration(timeout),
    connections,
    tls: { caFile, insecure },
    ...(serve === undefined ? {} : { serve }),
  }
}

function cacheServePlan(serve: CacheServeDocument): CacheServePlan {
  const { listen, workers, maxBytes, maxObjectBytes, ttl, connections, spaces, tls, persist } = serve
  return {
    ...addressOf(listen),
    workers,
    maxBytes: parseSize(maxBytes),
    maxObjectBytes: parseSize(maxObjectBytes),
    ttlMs: parseDuration(ttl),
    connections,
    spaces: Object.keys(spaces)
      .sort()
      .map((name) => {
        const { ttl: ownTtl = ttl, maxBytes: own } = spaces[name]!
        return { name, ttlMs: parseDuration(ownTtl), maxBytes: own === undefined ? null : parseSize(own) }
      }),
    tls: tls === undefined ? null : { certFile: tls.certFile, keyFile: tls.keyFile },
    ...(persist === undefined ? {} : { persist: persistPlan(persist) }),
  }
}

function persistPlan(persist: NonNullable<CacheServeDocument['persist']>): PersistPlan {
  const { cluster: _, slowAfterMs: __, ...plan } = statePlan({ ...persist, slowAfter: persist.timeout })
  return { ...plan, url: persist.url }
}

/** Returns the local URL of a server with this listen address. */
function ownUrl({ host, port }: CacheServePlan): string {
  const reached = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}
