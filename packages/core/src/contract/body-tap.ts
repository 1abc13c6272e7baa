/**
 * Reads along as the body of an upstream's response comes in; changes nothing and holds nothing up. It is there for what is
 * to be kept before the hooks of the steps around it change the body; a BodyFilter works behind all hooks.
 */
export interface BodyTap {
  /** @param chunk is only valid during the call. */
  onChunk(chunk: Uint8Array): void
  /** All of the body has come, as it was announced. Not called for one that was cut or given up. */
  onEnd(): void
}
