import type { LookupFunction } from 'node:net'
import { KnownServices } from '../../kubernetes/known-services.js'
import { Resolver } from './resolver.js'

/** How connections to targets are made; the same for all upstreams of a worker. */
export interface Network {
  readonly lookup: LookupFunction
  /** Connections are renewed after this time, and so follow a changed name. */
  readonly maxConnectionAgeMs: number
  /** Where the pods of Kubernetes Services are found; absent: nobody knows of any. */
  readonly services?: KnownServices
}

const MAX_CONNECTION_AGE_MS = 60_000

export function systemNetwork(): Network {
  return {
    lookup: new Resolver().lookup,
    maxConnectionAgeMs: MAX_CONNECTION_AGE_MS,
    services: new KnownServices(),
  }
}
