import { type BodyTap, ByteCollector } from '@sluice/core'

/** Memory shared by all recordings of a store. */
export interface RecordingMemory {
  recordingBytes: number
  readonly maxBytes: number
}

/** Receiver of a recorded body. */
export interface RecordingOwner {
  /** Called with the complete body. */
  onRecorded(body: Buffer): void
  /** Called if the body is too large, memory is short, or the length differs from the announced one. */
  onGivenUp(): void
}

/** Copies a response body up to a limit while it streams to the client. */
export class Recording implements BodyTap {
  readonly #memory: RecordingMemory
  readonly #owner: RecordingOwner
  readonly #maxBytes: number
  /** Announced length in bytes, or -1 if unknown. */
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

  /** Releases the memory. No callback runs after that. */
  cancel(): void {
    if (this.#gathered === null) return
    this.#memory.recordingBytes -= this.#gathered.size
    this.#gathered = null
  }
}
