import type { BodyReceiver, ClientStream } from '../listener/listener.js'
import type { Transport, Upload } from '../upstream/transport.js'

/** Hears how the request body comes along. */
export interface RequestBodyObserver {
  /** There is enough to start an attempt: all of a small body, or the beginning of a large one. */
  onBodyReady(): void
  onBodyProgress(bytes: number): void
  onBodyEnd(): void
}

/**
 * The request body on its way to a target. A body that arrives in one piece is sent as one buffer and can be sent again;
 * a longer one is streamed: its beginning is kept until an attempt has a connection, so that an attempt that found
 * none can be made again, and the client is not read from meanwhile.
 */
export class RequestBody implements BodyReceiver {
  readonly #client: ClientStream
  readonly #length: number
  readonly #observer: RequestBodyObserver
  readonly #onDrain = (): void => this.#client.resumeBody()
  /** Chunks of a streamed body that no connection has taken yet. */
  #kept: Buffer[] = []
  #upload: Upload | null = null
  #hasBegun = false
  /** All of the body is here. */
  isComplete = false
  /** The body, when it came in one piece. */
  whole: Buffer | null = null

  constructor(client: ClientStream, length: number, observer: RequestBodyObserver) {
    this.#client = client
    this.#length = length
    this.#observer = observer
  }

  read(): void {
    this.#client.readBody(this)
  }

  /** Whether the same body can be sent once more. */
  get isReplayable(): boolean {
    return this.#upload === null
  }

  onBodyChunk(chunk: Uint8Array, isLast: boolean): void {
    this.isComplete = isLast
    this.#observer.onBodyProgress(chunk.length)
    if (!this.#hasBegun) this.#begin(chunk, isLast)
    else this.#continue(chunk, isLast)
  }

  #begin(chunk: Uint8Array, isLast: boolean): void {
    this.#hasBegun = true
    if (isLast) this.whole = Buffer.from(chunk)
    else {
      this.#kept.push(Buffer.from(chunk))
      this.#client.pauseBody()
    }
    this.#observer.onBodyReady()
  }

  #continue(chunk: Uint8Array, isLast: boolean): void {
    const upload = this.#upload
    if (this.#kept.length > 0) this.#kept.push(Buffer.from(chunk))
    if (upload === null) return
    if (!upload.push(chunk)) this.#client.pauseBody()
    if (!isLast) return
    upload.end()
    this.#observer.onBodyEnd()
  }

  /** The upload for an attempt; null when the body is whole. */
  openUpload(transport: Transport): Upload | null {
    if (this.whole !== null) return null
    const upload = transport.createUpload(this.#length, this.#onDrain)
    for (const chunk of this.#kept) upload.push(chunk)
    if (this.isComplete) upload.end()
    this.#upload = upload
    return upload
  }

  /** A connection has taken the body's beginning: it is not kept any longer, and the client is read again. */
  release(): void {
    this.#kept = []
    if (!this.isComplete) this.#client.resumeBody()
  }

  destroy(): void {
    this.#kept = []
    this.#upload?.destroy()
    this.#upload = null
  }
}
