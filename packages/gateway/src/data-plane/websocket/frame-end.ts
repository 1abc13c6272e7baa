/** One side of a WebSocket connection as the relay sees it: it takes and gives bytes of frames (RFC 6455 section 5.2). */
export interface FrameEnd {
  /** Set before anything is read. */
  owner: FrameOwner | null
  /** Sends bytes, which it copies. False: wait for `onRoom`. */
  write(bytes: Buffer, from: number, to: number): boolean
  /** Stops giving bytes until `resume`, where the engine can. */
  pause(): void
  resume(): void
  /** Closes the connection once all that was written is out; what still comes of it is dropped. */
  end(): void
  /** Cuts the connection. */
  destroy(): void
}

/** What an end reports. */
export interface FrameOwner {
  /** The bytes are valid during the call only. */
  onBytes(bytes: Buffer, length: number): void
  /** There is room again after `write` answered false. */
  onRoom(): void
  /** Nothing more comes of it. */
  onGone(): void
}
