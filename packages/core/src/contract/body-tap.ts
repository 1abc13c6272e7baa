/** Reads along while the body of an upstream's response goes to the client; changes nothing and holds nothing up. */
export interface BodyTap {
  /** @param chunk is only valid during the call. */
  onChunk(chunk: Uint8Array): void
  /** All of the body has come, as it was announced. Not called for one that was cut or given up. */
  onEnd(): void
}
