import { type Exchange, isMessageLookalike, plainName, type Reply } from '@sluice/core'
import { BodyBlock, copyBody } from '../lib/body-block.js'
import { isForwardingField } from '../listen/client-address.js'
import type { BodyReceiver, ClientStream } from '../listen/listener.js'
import type { Transport, Upload } from '../upstream/transport/transport.js'
import { ArrivingBody } from './arriving-body.js'
import { REFUSALS } from './refusals.js'

/** Receiver of the request body's progress. */
export interface RequestBodyObserver {
  /** Called when an attempt can start: with all of a small body, or the start of a large one. */
  onBodyReady(): void
  /** Called with each chunk, which is valid only during the call. */
  onBodyProgress(chunk: Uint8Array): void
  onBodyEnd(): void
  /** Called when the body exceeds a limit. */
  onOverflow(reply: Reply): void
  /** Called when the target stops reading. Until `onBodyWanted`, the client is not responsible for the delay. */
  onBodyHeld(): void
  onBodyWanted(): void
}

/** Maximum number of bytes of a streamed body that are kept for another attempt. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024

/**
 * The request body on its way to a target. A body of up to `limits.bodyBufferBytes`, or in one piece, is buffered and can be
 * sent again. A longer one is streamed once that much has arrived, so that a slow client does not occupy a connection.
 * The start of a streamed body is kept until an attempt has a connection, so that an attempt without one can be
 * repeated. The client is not read meanwhile.
 */
export class RequestBody implements BodyReceiver {
  readonly #client: ClientStream
  readonly #x: Exchange
  readonly #observer: RequestBodyObserver
  readonly #onDrain = (): void => {
    this.#client.resumeBody()
    if (!this.isComplete) this.#observer.onBodyWanted()
  }
  /** Chunks of a streamed body that no connection has accepted yet. */
  #kept: Buffer[] = []
  #keptBytes = 0
  #upload: Upload | null = null
  /** Bytes received before an attempt can start; null if there are none. */
  #gathered: ArrivingBody | null = null
  #isReady = false
  /** True if part of the body is no longer available, so that no other attempt can be made. */
  #isSpent = false
  /** Time when the last chunk of a streamed body was sent to the target; 0 if the body was sent at once. */
  #sentMono = 0
  #trailers: readonly string[] | null = null
  /** True once the whole body has been received. */
  isComplete = false
  /** Complete body, if it is not streamed. */
  whole: BodyBlock | Buffer | null = null

  constructor(client: ClientStream, x: Exchange, observer: RequestBodyObserver) {
    this.#client = client
    this.#x = x
    this.#observer = observer
  }

  read(): void {
    this.#client.readBody(this)
  }

  /** True if the same body can be sent again, even to a target that may have seen it. */
  get isReplayable(): boolean {
    return this.#upload === null
  }

  /** Returns the monotonic time since when the target has had the whole body; now if the client is still sending it. */
  sentSince(beganMono: number): number {
    return this.isComplete ? Math.max(beganMono, this.#sentMono) : performance.now()
  }

  /** True if another attempt can be made after one that got no connection. */
  get canRestart(): boolean {
    return !this.#isSpent
  }

  onBodyChunk(chunk: Uint8Array, isLast: boolean, trailers: readonly string[] | null = null): void {
    this.isComplete = isLast
    if (trailers !== null) this.#trailers = requestTrailers(trailers, this.#x.headers)
    this.#observer.onBodyProgress(chunk)
    if (this.#isReady) this.#continue(chunk, isLast)
    else if (isLast && this.#gathered === null) {
      this.whole = copyBody(chunk)
      this.#becomeReady()
    } else this.#gather(chunk, isLast)
  }

  #gather(chunk: Uint8Array, isLast: boolean): void {
    this.#gathered ??= new ArrivingBody()
    const gathered = this.#gathered
    if (!gathered.add(chunk)) {
      this.destroy()
      this.#observer.onOverflow(REFUSALS.overloaded)
      return
    }
    if (isLast) this.whole = gathered.take()
    else if (gathered.size < this.#x.pace.bodyBufferBytes) return
    else {
      this.#keptBytes = gathered.size
      this.#kept.push(gathered.take())
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

  /** Keeps a copy. Chunks may arrive despite the pause; after too many of them, the body can be sent only once. */
  #keep(chunk: Uint8Array): void {
    this.#keptBytes += chunk.length
    if (this.#keptBytes <= MAX_KEPT_BYTES || this.#upload === null) this.#kept.push(Buffer.from(chunk))
    else {
      this.#kept = []
      this.#isSpent = true
    }
  }

  /** Creates the upload for an attempt, or returns null if the body is not streamed. */
  openUpload(transport: Transport): Upload | null {
    if (this.whole !== null) return null
    const upload = transport.createUpload(this.#x.contentLength, this.#onDrain)
    for (const chunk of this.#kept) upload.add(chunk)
    if (this.isComplete) upload.end(this.#trailers)
    this.#upload = upload
    return upload
  }

  /** Drops the kept chunks once a connection has accepted them, and reads from the client again. */
  release(): void {
    this.#kept = []
    this.#isSpent = true
    if (!this.isComplete) this.#client.resumeBody()
  }

  /** Called after the last attempt, when the body is no longer needed. */
  finish(): void {
    if (this.whole instanceof BodyBlock) this.whole.release()
    this.whole = null
  }

  destroy(): void {
    this.#isReady = true
    this.#gathered?.drop()
    this.#gathered = null
    this.#kept = []
    this.#upload?.destroy()
    this.#upload = null
  }
}

/**
 * Returns the request trailers to forward, or null. Policies have seen only the head. A target may
 * merge both, so trailers that repeat a field of the head or concern forwarding are dropped (RFC 9110 section 6.5.1).
 * @param trailers flat list with names in lower case.
 * @param headers fields of the head as sent to the target, in the same form.
 */
function requestTrailers(trailers: readonly string[], headers: readonly string[]): readonly string[] | null {
  const known = new Set<string>()
  for (let i = 0; i < headers.length; i += 2) known.add(plainName(headers[i]!))
  const passed: string[] = []
  for (let i = 0; i < trailers.length; i += 2) {
    const name = trailers[i]!
    if (known.has(plainName(name)) || isForwardingField(name) || isMessageLookalike(name)) continue
    passed.push(name, trailers[i + 1]!)
  }
  return passed.length > 0 ? passed : null
}
