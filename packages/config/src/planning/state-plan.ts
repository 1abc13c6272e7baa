import { parseDuration } from '@sluice/core'
import type { CachePlan, StatePlan } from '../plan.js'
import type { Document } from '../schema/document.js'

/** The store that replicas share. */
export function statePlan(state: NonNullable<Document['state']>): StatePlan {
  const { url, username = null, password = null, keyPrefix, timeout, tls } = state
  const { caFile = null, insecure } = tls
  return { url, username, password, keyPrefix, timeoutMs: parseDuration(timeout), tls: { caFile, insecure } }
}

/** The cache server that policies keep values at. */
export function cachePlan(cache: NonNullable<Document['cache']>): CachePlan {
  const { url, token = null, timeout, connections, tls } = cache
  const { caFile = null, insecure } = tls
  return { url, token, timeoutMs: parseDuration(timeout), connections, tls: { caFile, insecure } }
}
