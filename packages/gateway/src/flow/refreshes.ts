import { performance } from 'node:perf_hooks'
import { Exchange, type ReceivedExchange, type RoutedExchange } from '@sluice/core'
import type { ClientOwner, ClientStream } from '../listen/listener.js'
import { RouteMetrics } from '../telemetry/metrics.js'
import type { Lease, PipelineContext } from './context.js'
import { Flow } from './flow.js'
import type { RefreshSender, Route, RouteLog } from './route.js'

/** Maximum number of refreshes in progress per snapshot and worker. */
const MAX_UNDER_WAY = 64

/**
 * Refreshes are the gateway's own requests. They count in the upstream's metrics, but not in the route's or in the log.
 */
const NO_LOG: RouteLog = {
  rule: { isOff: true, capture: null, isTraced: false },
  byMethod: null,
  slowMs: Number.POSITIVE_INFINITY,
  isTimed: false,
}

/** A snapshot that can be kept open while it is used. */
interface Leased {
  use(): Lease
}

/** Sends background requests for policies that store responses. No client receives the response. */
export class Refreshes implements RefreshSender {
  /** Snapshot that the policies belong to; null until it serves requests. */
  owner: Leased | null = null
  readonly #context: PipelineContext
  #underWay = 0

  constructor(context: PipelineContext) {
    this.#context = context
  }

  send(x: Exchange, prepare: (copy: Exchange) => void): boolean {
    const route = x.route as Route
    const { refresh } = route.chain
    if (this.owner === null || refresh === null || this.#underWay >= MAX_UNDER_WAY) return false
    if (this.#context.isDraining) return false
    const copy = copyOf(x)
    prepare(copy)
    this.#underWay++
    const lease = this.owner.use()
    const release = (): void => {
      this.#underWay--
      lease.release()
    }
    const unseen = { ...route, chain: refresh, log: NO_LOG, metrics: new RouteMetrics() }
    const shared = { context: this.#context, lease: { release } }
    // The request that triggered the refresh is answered first.
    setImmediate(() => new Flow(unseen, copy, new NullClient(), shared).start())
    return true
  }
}

/** Copies a request as the previous steps have left it, without the body. */
function copyOf(x: Exchange): Exchange {
  const copy: ReceivedExchange & RoutedExchange = new Exchange()
  copy.id = x.id
  copy.startedAt = Date.now()
  copy.startedMono = performance.now()
  copy.method = 'GET'
  copy.httpVersion = x.httpVersion
  copy.scheme = x.scheme
  copy.authority = x.authority
  copy.host = x.host
  copy.rawPath = x.rawPath
  copy.path = x.path
  copy.forwardPath = x.forwardPath
  copy.hasEncodedSlash = x.hasEncodedSlash
  copy.query = x.query
  copy.hasEmptyQuery = x.hasEmptyQuery
  copy.headers = x.headers.slice()
  copy.forwardedFor = x.forwardedFor
  copy.peer = x.peer
  copy.clientIp = x.clientIp
  copy.clientPort = x.clientPort
  copy.bodyLimit = x.bodyLimit
  copy.params = x.params
  copy.paramNames = x.paramNames
  copy.consumer = x.consumer
  copy.identifications = x.identifications
  copy.claims = x.claims
  copy.vars = x.vars === null ? null : new Map(x.vars)
  copy.slots = x.slots.slice()
  copy.responseBodyLimit = x.responseBodyLimit
  return copy
}

/** A client that accepts everything and never disconnects. */
class NullClient implements ClientStream {
  owner: ClientOwner | null = null
  closeAfter = false
  readonly isGone = false
  readonly upgrade = null
  readonly unsentBytes = 0
  readonly waitsToContinue = false

  readBody(): void {}
  pauseBody(): void {}
  resumeBody(): void {}
  send(): void {}
  sendHead(): void {}
  start(): void {}
  write(): boolean {
    return true
  }
  end(): boolean {
    return true
  }
  abort(): void {}
}
