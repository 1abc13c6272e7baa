/** What was relayed of a WebSocket connection, and how it ended, for the traffic log. */
export class WebSocketCounts {
  /** Monotonic clock, ms: since the switch of protocols. */
  readonly sinceMono: number
  /** Messages, without control frames, and bytes of all frames: from the client, and to it. */
  messagesIn = 0
  messagesOut = 0
  bytesIn = 0
  bytesOut = 0
  /** The close code that was sent first (RFC 6455 section 7.4); 1005: a close without one, 1006: the connection was cut. */
  closeCode = 1006
  closedBy: 'client' | 'upstream' | 'gateway' = 'gateway'

  constructor(sinceMono: number) {
    this.sinceMono = sinceMono
  }
}
