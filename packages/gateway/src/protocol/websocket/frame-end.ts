/** An end of a relayed WebSocket connection. It reads and writes the bytes of frames (RFC 6455 section 5.2). */
export interface FrameEnd {
  /** Receiver of the events. Set before anything is read. */
  owner: FrameOwner | null
  /** Sends a copy of the bytes. Returns false if the caller should wait for `onRoom`. */
  write(bytes: Buffer, from: number, to: number): boolean
  /** Stops delivering bytes until `resume`, if the engine supports it. */
  pause(): void
  resume(): void
  /** Closes the connection once everything written has been sent. Bytes received meanwhile are dropped. */
  end(): void
  destroy(): void
}

/** Events of an end. */
export interface FrameOwner {
  /** Called with received bytes, which are valid only during the call. */
  onBytes(bytes: Buffer, length: number): void
  /** Called when there is room again after `write` returned false. */
  onRoom(): void
  /** Called when the connection has closed. */
  onGone(): void
}
