import type { Filtered } from '@sluice/core'
import type { Codec, CompressionStream } from './codecs.js'

/** Compresses a body chunk by chunk on the thread pool, one chunk at a time. */
export class StreamedCompression {
  readonly #codec: Codec
  readonly #stream: CompressionStream
  readonly #isFlushed: boolean
  #made: Buffer[] = []
  #fail: (error: Error) => void = () => {}

  /** @param isFlushed true to output every chunk at once, for readers that wait for it. */
  constructor(codec: Codec, isFlushed: boolean) {
    this.#codec = codec
    this.#isFlushed = isFlushed
    this.#stream = codec.open()
    this.#stream.on('data', (bytes: Buffer) => this.#made.push(bytes))
    this.#stream.on('error', (error) => this.#fail(error))
  }

  write(piece: Uint8Array): Filtered {
    // The stream reads the chunk later, on another thread.
    const copy = Buffer.from(piece)
    return this.#run((onDone) => {
      if (!this.#isFlushed) this.#stream.write(copy, onDone)
      else {
        this.#stream.write(copy)
        this.#stream.flush(this.#codec.flushKind, onDone)
      }
    })
  }

  end(): Filtered {
    return this.#run((onDone) => this.#stream.once('end', onDone).end())
  }

  close(): void {
    this.#stream.destroy()
  }

  #run(work: (onDone: () => void) => void): Promise<Buffer | null> {
    return new Promise((resolve, reject) => {
      this.#fail = reject
      work(() => resolve(this.#take()))
    })
  }

  #take(): Buffer | null {
    const made = this.#made
    this.#made = []
    if (made.length === 0) return null
    return made.length === 1 ? made[0]! : Buffer.concat(made)
  }
}
