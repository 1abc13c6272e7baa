/** Transport of messages to a receiver, including their framing. */
export interface SyslogTransport {
  /**
   * Sends messages. Resolves when they count as delivered. @throws Error with the reason, for the operator.
   */
  send(messages: readonly Buffer[]): Promise<void>
  close(): void
}
