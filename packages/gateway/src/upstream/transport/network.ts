import type { LookupFunction } from 'node:net'
import { KnownServices } from '../../kubernetes/known-services.js'
import type { OpenSocket } from './connector.js'
import { Resolver } from './resolver.js'

/** Settings for connections to targets, shared by all upstreams of a worker. */
export interface Network {
  readonly lookup: LookupFunction
  /** Maximum age of a connection in milliseconds. Renewal makes it follow a changed address. */
  readonly maxConnectionAgeMs: number
  /** Source of the pods of Kubernetes Services, if there is one. */
  readonly services?: KnownServices
  /** Opens connections to fake servers. Absent: the real servers are used. */
  readonly openSocket?: OpenSocket
}

const MAX_CONNECTION_AGE_MS = 60_000

/** Creates the default network settings, with the system lookup. */
export function systemNetwork(): Network {
  return {
    lookup: new Resolver().lookup,
    maxConnectionAgeMs: MAX_CONNECTION_AGE_MS,
    services: new KnownServices(),
  }
}
