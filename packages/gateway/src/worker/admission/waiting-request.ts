import type { Reply, RoutedExchange } from '@sluice/core'
import type { Lease } from '../../flow/context.js'
import type { Route } from '../../flow/route.js'
import type { ClientOwner, ClientStream } from '../../listen/listener.js'
import type { Queueable } from './fair-queue.js'

/** Continues with a waiting request. */
export interface RequestServer {
  serveWaiting(request: WaitingRequest): void
  /** Refuses the request, because the worker is overloaded. */
  refuseWaiting(request: WaitingRequest, reply: Reply): void
  /** Records that the client has disconnected. */
  dropWaiting(request: WaitingRequest): void
}

/** A routed request that waits until the worker has time for it. Its body is not read meanwhile. */
export class WaitingRequest implements ClientOwner, Queueable {
  nextInLane: Queueable | null = null
  /** True once the client has disconnected. */
  isGone = false
  /** The refusal of an invalid body, or null. */
  invalid: Reply | null = null
  readonly route: Route
  readonly x: RoutedExchange
  readonly client: ClientStream
  readonly lease: Lease
  readonly #server: RequestServer

  constructor(
    server: RequestServer,
    { route, x, client, lease }: Pick<WaitingRequest, 'route' | 'x' | 'client' | 'lease'>,
  ) {
    this.#server = server
    this.route = route
    this.x = x
    this.client = client
    this.lease = lease
    client.owner = this
  }

  /** Stops reading the body until the request is served or refused. */
  hold(): void {
    this.client.pauseBody()
  }

  serve(): void {
    if (this.isGone) return
    this.client.resumeBody()
    if (!this.isGone) this.#server.serveWaiting(this)
  }

  refuse(reply: Reply): void {
    if (this.isGone) return
    this.client.resumeBody()
    if (!this.isGone) this.#server.refuseWaiting(this, reply)
  }

  onClientAbort(): void {
    this.isGone = true
    this.#server.dropWaiting(this)
  }

  onClientDrain(): void {}

  onBodyInvalid(reply: Reply): void {
    this.invalid = reply
  }
}
