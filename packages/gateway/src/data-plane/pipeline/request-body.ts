import { ByteCollector, type Exchange } from '@sluice/core'
import { latin1Of, MAX_TEXT_BYTES } from '../lib/latin1.js'
import type { BodyReceiver, ClientStream } from '../listener/listener.js'
import type { Transport, Upload } from '../upstream/transport.js'
import { requestTrailers } from './request-trailers.js'

/** Hears how the request body comes along. */
export interface RequestBodyObserver {
  /** There is enough to start an attempt: all of a small body, or the beginning of a large one. */
  onBodyReady(): void
  /** The chunk is only valid during the call. */
  onBodyProgress(chunk: Uint8Array): void
  onBodyEnd(): void
  /** The target does not read: until `onBodyWanted` the client is not to blame for the silence. */
  onBodyHeld(): void
  onBodyWanted(): void
}

/** The beginning of a streamed body that is kept for another attempt, in bytes. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024

/**
 * The request body on its way to a target. One of up to `limits.bodyBuffer`, or that comes in one piece, is kept whole and can be
 * sent again; a longer one is streamed once so much of it is here, so that a slow client holds no connection of the
 * target. Its beginning is kept until an attempt has a connection, so that an attempt that found none can be made again,
 * and the client is not read from meanwhile.
 */
export class RequestBody implements BodyReceiver {
  readonly #client: ClientStream
  readonly #x: Exchange
  readonly #observer: RequestBodyObserver
  readonly #onDrain = (): void => {
    this.#client.resumeBody()
    if (!this.isComplete) this.#observer.onBodyWanted()
  }
  /** Chunks of a streamed body that no connection has taken yet. */
  #kept: Buffer[] = []
  #keptBytes = 0
  #upload: Upload | null = null
  /** What has come before an attempt can be made; null while that is nothing. */
  #gathered: ByteCollector | null = null
  #isReady = false
  /** Part of the body is gone: no other attempt can be made. */
  #isSpent = false
  /** When the last chunk of a streamed body went to the target; 0: it was sent in one go. */
  #sentMono = 0
  #trailers: readonly string[] | null = null
  /** All of the body is here. */
  isComplete = false
  /** The body, when it is not streamed; a small one as text of one byte a character. */
  whole: Buffer | string | null = null

  constructor(client: ClientStream, x: Exchange, observer: RequestBodyObserver) {
    this.#client = client
    this.#x = x
    this.#observer = observer
  }

  read(): void {
    this.#client.readBody(this)
  }

  /** Whether the same body can be sent once more, to a target that may have seen it. */
  get isReplayable(): boolean {
    return this.#upload === null
  }

  /** Since when an attempt has all of the body, on the monotonic clock; now, while the client still sends it. */
  sentSince(beganMono: number): number {
    return this.isComplete ? Math.max(beganMono, this.#sentMono) : performance.now()
  }

  /** Whether another attempt can be made where none has had a connection. */
  get canRestart(): boolean {
    return !this.#isSpent
  }

  onBodyChunk(chunk: Uint8Array, isLast: boolean, trailers: readonly string[] | null = null): void {
    this.isComplete = isLast
    if (trailers !== null) this.#trailers = requestTrailers(trailers, this.#x.headers)
    this.#observer.onBodyProgress(chunk)
    if (this.#isReady) this.#continue(chunk, isLast)
    else if (isLast && this.#gathered === null) {
      this.whole = chunk.length <= MAX_TEXT_BYTES ? latin1Of(chunk) : Buffer.from(chunk)
      this.#becomeReady()
    } else this.#gather(chunk, isLast)
  }

  #gather(chunk: Uint8Array, isLast: boolean): void {
    this.#gathered ??= new ByteCollector()
    const gathered = this.#gathered
    gathered.add(chunk)
    if (isLast) this.whole = gathered.toBuffer()
    else if (gathered.size < this.#x.pace.bodyBuffer) return
    else {
      this.#keptBytes = gathered.size
      this.#kept.push(gathered.toBuffer())
      this.#client.pauseBody()
    }
    this.#gathered = null
    this.#becomeReady()
  }

  #becomeReady(): void {
    this.#isReady = true
    this.#observer.onBodyReady()
  }

  #continue(chunk: Uint8Array, isLast: boolean): void {
    const upload = this.#upload
    if (this.#kept.length > 0) this.#keep(chunk)
    if (upload === null) return
    const hasRoom = upload.add(chunk)
    if (isLast) {
      upload.end(this.#trailers)
      this.#sentMono = performance.now()
      this.#observer.onBodyEnd()
    } else if (!hasRoom) {
      this.#client.pauseBody()
      this.#observer.onBodyHeld()
    }
  }

  /** Chunks may come in spite of the pause; too many of them, and the body can be sent only once. */
  #keep(chunk: Uint8Array): void {
    this.#keptBytes += chunk.length
    if (this.#keptBytes <= MAX_KEPT_BYTES || this.#upload === null) this.#kept.push(Buffer.from(chunk))
    else {
      this.#kept = []
      this.#isSpent = true
    }
  }

  /** The upload for an attempt; null when the body is whole. */
  openUpload(transport: Transport): Upload | null {
    if (this.whole !== null) return null
    const upload = transport.createUpload(this.#x.contentLength, this.#onDrain)
    for (const chunk of this.#kept) upload.add(chunk)
    if (this.isComplete) upload.end(this.#trailers)
    this.#upload = upload
    return upload
  }

  /** A connection has taken the body's beginning: it is not kept any longer, and the client is read again. */
  release(): void {
    this.#kept = []
    this.#isSpent = true
    if (!this.isComplete) this.#client.resumeBody()
  }

  destroy(): void {
    this.#isReady = true
    this.#gathered = null
    this.#kept = []
    this.#upload?.destroy()
    this.#upload = null
  }
}
