/** How messages get to a receiver; framing is the transport's. */
export interface SyslogTransport {
  /** Resolves when the messages count as delivered. @throws Error for an operator, why they do not. */
  send(messages: readonly Buffer[]): Promise<void>
  close(): void
}
