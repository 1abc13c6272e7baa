import type { Filtered } from '@sluice/core'
import type { Codec, CompressionStream } from './codecs.js'

/** Compresses a body piece by piece on the threads of the process; one piece at a time. */
export class StreamedCompression {
  readonly #codec: Codec
  readonly #stream: CompressionStream
  readonly #isFlushed: boolean
  #made: Buffer[] = []
  #fail: (error: Error) => void = () => {}

  /** @param isFlushed every piece comes out at once, for a reader that waits for it. */
  constructor(codec: Codec, isFlushed: boolean) {
    this.#codec = codec
    this.#isFlushed = isFlushed
    this.#stream = codec.open()
    this.#stream.on('data', (bytes: Buffer) => this.#made.push(bytes))
    this.#stream.on('error', (error) => this.#fail(error))
  }

  write(piece: Uint8Array): Filtered {
    // It is read on another thread, after this call.
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
