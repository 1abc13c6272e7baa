import type { Sample } from '../../telemetry/sample.js'
import { label } from '../../telemetry/text-format.js'
import type { WebSocketRelay } from './relay.js'

/** Number of relayed messages in each direction. */
export interface MessageCounts {
  readonly messagesIn: number
  readonly messagesOut: number
}

/** The WebSocket connections of a worker. */
export class WebSockets {
  readonly #open = new Map<WebSocketRelay, string>()
  /** Messages of connections that have closed. */
  #messagesIn = 0
  #messagesOut = 0

  /** @param route id of the route. */
  add(relay: WebSocketRelay, route: string): void {
    this.#open.set(relay, route)
  }

  remove(relay: WebSocketRelay): void {
    if (!this.#open.delete(relay)) return
    this.#messagesIn += relay.messages.messagesIn
    this.#messagesOut += relay.messages.messagesOut
  }

  get open(): number {
    return this.#open.size
  }

  samples(): Sample[] {
    const { messagesIn, messagesOut } = this.messages
    const name = 'gw_websocket_messages_total'
    return [
      { name: 'gw_websockets', labels: '', value: this.open },
      { name, labels: label('from', 'client'), value: messagesIn },
      { name, labels: label('from', 'upstream'), value: messagesOut },
    ]
  }

  /** Messages of all connections, open and closed. */
  get messages(): MessageCounts {
    let messagesIn = this.#messagesIn
    let messagesOut = this.#messagesOut
    for (const { messages } of this.#open.keys()) {
      messagesIn += messages.messagesIn
      messagesOut += messages.messagesOut
    }
    return { messagesIn, messagesOut }
  }

  /**
   * Closes connections whose route no longer serves WebSockets, with code 1001.
   * @param routes ids of the routes that do.
   */
  closeExcept(routes: ReadonlySet<string>): void {
    for (const [relay, route] of this.#open) {
      if (!routes.has(route)) relay.close()
    }
  }

  destroy(): void {
    for (const relay of this.#open.keys()) relay.destroy()
  }
}
