import { Readable } from 'node:stream'
import { SpillFile } from '../../lib/spill-file.js'
import type { Upload } from './transport.js'

/** Number of upload bytes buffered while the target does not read. */
const UPLOAD_HIGH_WATER_BYTES = 256 * 1024
/** Maximum number of upload bytes in memory. A read of the listener is up to 512 KB. */
const UPLOAD_MAX_BYTES = 2 * 1024 * 1024

/** The request body as a Readable for undici and node:http2. Chunks that arrive despite a pause wait in a file. */
export class ReadableUpload extends Readable implements Upload {
  readonly length: number
  /** Trailers, for HTTP/2 only: undici does not send any. */
  trailers: readonly string[] | null = null
  readonly #onDrain: () => void
  readonly #spill = new SpillFile()
  #isFull = false
  #hasEnded = false

  constructor(length: number, onDrain: () => void) {
    super({ highWaterMark: UPLOAD_HIGH_WATER_BYTES })
    this.length = length
    this.#onDrain = onDrain
    // After an early response, undici destroys the body. That is not an error here.
    this.on('error', () => {})
  }

  override _read(): void {
    if (!this.#spill.isEmpty) this.#pushSpilled()
    else if (this.#isFull) {
      this.#isFull = false
      this.#onDrain()
    }
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#spill.close()
    done(error)
  }

  add(chunk: Uint8Array): boolean {
    if (this.destroyed) return true
    if (this.#isFull && this.readableLength > UPLOAD_MAX_BYTES) return this.#spillChunk(chunk)
    if (!this.#spill.isEmpty) return this.#spillChunk(chunk)
    const hasRoom = this.push(Buffer.from(chunk))
    if (!hasRoom) this.#isFull = true
    return hasRoom
  }

  end(trailers: readonly string[] | null = null): void {
    this.trailers = trailers
    this.#hasEnded = true
    if (!this.destroyed && this.#spill.isEmpty) this.push(null)
  }

  #spillChunk(chunk: Uint8Array): boolean {
    try {
      this.#spill.append(chunk)
    } catch (error) {
      this.destroy(error as Error)
    }
    return false
  }

  #pushSpilled(): void {
    this.push(this.#spill.take(UPLOAD_HIGH_WATER_BYTES))
    if (this.#spill.isEmpty && this.#hasEnded) this.push(null)
  }
}
