/** Counters of a WebSocket connection, and how it ended, for the traffic log. */
export class WebSocketCounts {
  /** Monotonic time of the protocol switch in milliseconds. */
  readonly sinceMono: number
  /** Messages without control frames, and bytes of all frames, from and to the client. */
  messagesIn = 0
  messagesOut = 0
  bytesIn = 0
  bytesOut = 0
  /**
   * First close code that was sent (RFC 6455 section 7.4). 1005: close without a code. 1006: the connection
   * was cut.
   */
  closeCode = 1006
  closedBy: 'client' | 'upstream' | 'gateway' = 'gateway'

  constructor(sinceMono: number) {
    this.sinceMono = sinceMono
  }
}
