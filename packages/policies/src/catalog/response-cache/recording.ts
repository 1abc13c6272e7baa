import { type BodyTap, ByteCollector } from '@sluice/core'

/** Memory that all recordings of a store share. */
export interface RecordingMemory {
  recordingBytes: number
  readonly maxBytes: number
}

/** Who gets a body that was recorded. */
export interface RecordingOwner {
  /** It is whole. */
  onRecorded(body: Buffer): void
  /** It is too large, there is no room, or it is not what was announced. */
  onGivenUp(): void
}

/** Copies a response body while it goes to the client, up to a bound. */
export class Recording implements BodyTap {
  readonly #memory: RecordingMemory
  readonly #owner: RecordingOwner
  readonly #maxBytes: number
  /** As announced; -1: unknown. */
  readonly #length: number
  #gathered: ByteCollector | null = new ByteCollector()

  constructor(
    memory: RecordingMemory,
    owner: RecordingOwner,
    { maxBytes, length }: { readonly maxBytes: number; readonly length: number },
  ) {
    this.#memory = memory
    this.#owner = owner
    this.#maxBytes = maxBytes
    this.#length = length
  }

  onChunk(chunk: Uint8Array): void {
    if (this.#gathered === null) return
    const size = this.#gathered.size + chunk.length
    if (size > this.#maxBytes || this.#memory.recordingBytes + chunk.length > this.#memory.maxBytes) {
      this.cancel()
      this.#owner.onGivenUp()
      return
    }
    this.#memory.recordingBytes += chunk.length
    this.#gathered.add(chunk)
  }

  onEnd(): void {
    if (this.#gathered === null) return
    const body = this.#gathered.toBuffer()
    this.cancel()
    if (this.#length >= 0 && body.length !== this.#length) this.#owner.onGivenUp()
    else this.#owner.onRecorded(body)
  }

  /** Gives its memory back; nothing is heard of it any more. */
  cancel(): void {
    if (this.#gathered === null) return
    this.#memory.recordingBytes -= this.#gathered.size
    this.#gathered = null
  }
}
