import type { Sample } from '../../telemetry/sample.js'
import { label } from '../../telemetry/text-format.js'
import type { WebSocketRelay } from './relay.js'

/** Messages that were relayed. */
export interface MessageCounts {
  readonly messagesIn: number
  readonly messagesOut: number
}

/** The WebSocket connections of a worker. */
export class WebSockets {
  readonly #open = new Map<WebSocketRelay, string>()
  /** Of those that are over. */
  #messagesIn = 0
  #messagesOut = 0

  /** @param route the id of its route. */
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

  /** Of all that are and were. */
  get messages(): MessageCounts {
    let messagesIn = this.#messagesIn
    let messagesOut = this.#messagesOut
    for (const { messages } of this.#open.keys()) {
      messagesIn += messages.messagesIn
      messagesOut += messages.messagesOut
    }
    return { messagesIn, messagesOut }
  }

  /** Closes those whose route does not serve WebSockets any more, with code 1001. @param routes ids of those that do. */
  closeExcept(routes: ReadonlySet<string>): void {
    for (const [relay, route] of this.#open) {
      if (!routes.has(route)) relay.close()
    }
  }

  /** Cuts all. */
  destroy(): void {
    for (const relay of this.#open.keys()) relay.destroy()
  }
}
