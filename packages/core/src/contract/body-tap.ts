/**
 * Read-only observer of the upstream's response body as it arrives. It cannot change or delay the body. Use
 * it to store the response before the hooks of outer steps change it. A `BodyFilter`, in contrast, runs after
 * all hooks.
 */
export interface BodyTap {
  /** Called for each chunk. @param chunk Valid during the call only. */
  onChunk(chunk: Uint8Array): void
  /** Called when the body is complete. Not called if the body was truncated or abandoned. */
  onEnd(): void
}
