import { type Exchange, type Reply, refusal, WebSocketCounts } from '@sluice/core'
import type { UpgradeOffer } from '../listen/listener.js'
import type { FrameEnd } from '../protocol/websocket/frame-end.js'
import {
  forwardedSwitchFields,
  keyOf,
  limitExtensions,
  refuseHandshake,
} from '../protocol/websocket/handshake.js'
import { WebSocketRelay } from '../protocol/websocket/relay.js'
import type { UpgradeAttempt } from '../upstream/http1/upgrade-attempt.js'
import type { ReceivedHead } from '../upstream/transport/received-head.js'
import type { ExchangeFlow } from './exchange-flow.js'
import type { ProxyAction } from './route.js'

const EARLY = refusal('GW_BAD_REQUEST', 'bytes arrived before the WebSocket handshake was complete')
const CUT = 1006

/** Prepares an upgrade request for its upstream, or returns the refusal. */
export function prepareUpgrade(x: Exchange, offer: UpgradeOffer, { webSocket }: ProxyAction): Reply | null {
  const refused = refuseHandshake(x, webSocket !== null)
  if (refused !== null) return refused
  x.headers = limitExtensions(x.headers, webSocket?.compression === 'pass' && offer.passesCompression)
  return null
}

/** Returns the fields of a 101 response for the client. */
export function switchFields(head: ReceivedHead): string[] {
  return forwardedSwitchFields(head.forwardedFields())
}

/** Answers the client with 101 and relays frames until both connections have closed, which ends the exchange. */
export function relayWebSocket(flow: ExchangeFlow, action: ProxyAction, attempt: UpgradeAttempt): void {
  const { x, client } = flow
  const offer = client.upgrade!
  const target = attempt.take()
  if (target === null) {
    flow.refuse(
      refusal('GW_UPSTREAM_RESET', 'the target closed the connection right after switching protocols'),
    )
    return
  }
  if (offer.hasEarlyBytes) {
    target.destroy()
    flow.refuse(EARLY)
    return
  }
  const headers = [...x.responseHeaders, 'x-request-id', x.id]
  const end = offer.accept(headers, keyOf(attempt.request.headers))
  // The client's disconnect has already been reported.
  if (end === null) target.destroy()
  else new WebSocketSession(flow, action).start(end, target, attempt.agreement.isCompressible)
}

/** The WebSocket connection of an exchange. It no longer counts as a request in flight. */
class WebSocketSession {
  readonly #flow: ExchangeFlow
  readonly #action: ProxyAction
  readonly #counts = new WebSocketCounts(performance.now())

  constructor(flow: ExchangeFlow, action: ProxyAction) {
    this.#flow = flow
    this.#action = action
  }

  start(client: FrameEnd, target: FrameEnd, isCompressible: boolean): void {
    const { context, timer, x, route } = this.#flow
    const { idleMs, maxMessageBytes, rate } = this.#action.webSocket!
    timer.stop()
    context.inFlight--
    x.record.stream = this.#counts
    const relay = new WebSocketRelay({
      client,
      target,
      bounds: { idleMs, maxMessageBytes, rate: rate ?? Number.POSITIVE_INFINITY, isCompressible },
      wheel: context.wheel,
      counts: this.#counts,
      onFault: (error) => context.report('websocket_fault', { route: route.id, error: String(error) }),
      onOver: () => {
        context.webSockets.remove(relay)
        this.#end()
      },
    })
    context.webSockets.add(relay, route.id)
    relay.start()
    // It opened while the worker was already draining.
    if (context.isDraining) relay.close()
  }

  #end(): void {
    const { context, x } = this.#flow
    const { bytesIn, bytesOut, closeCode, closedBy } = this.#counts
    x.requestBytes = bytesIn
    x.responseBytes = bytesOut
    if (context.isCutting) {
      x.result = 'shed'
      x.fail('GW_DRAINING', 'the gateway shut down before both sides had closed')
    } else if (closeCode === CUT && closedBy === 'client') x.result = 'aborted'
    else if (closeCode === CUT) {
      x.result = 'error'
      x.fail('GW_UPSTREAM_RESET', 'the target closed the WebSocket connection without a close frame')
    }
    context.inFlight++
    this.#flow.finish()
  }
}
