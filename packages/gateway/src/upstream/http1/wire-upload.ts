import { SpillFile } from '../../lib/spill-file.js'
import { consistsOf, TOKEN_BYTES, VALUE_BYTES } from '../../protocol/http1/byte-classes.js'
import { forwardableTrailers } from '../../protocol/response-fields.js'
import type { Upload } from '../transport/transport.js'

/** Number of waiting upload bytes from which the client is paused. */
export const UPLOAD_HIGH_WATER_BYTES = 256 * 1024
/** Maximum number of upload bytes in memory. A read of the listener is up to 512 KB. */
const UPLOAD_MAX_BYTES = 2 * 1024 * 1024

const CRLF_BYTES = 2

/** Destination of an upload, implemented by the connection. */
export interface UploadSink {
  /** Number of written bytes that are still in memory. */
  readonly unsentBytes: number
  /** Writes bytes. Returns false if the caller should wait until the connection calls `flush`. */
  write(bytes: Uint8Array): boolean
  /** Called after the last bytes if the connection frames the body itself. */
  onUploadEnd?(trailers: readonly string[] | null): void
  /**
   * Called if the body does not match its announced length, or cannot be buffered. The request must not appear
   * complete.
   */
  onUploadBroken(): void
}

/**
 * A request body on its way to a connection. Bytes wait in memory, then in a file, until there is a connection and
 * while it does not accept more.
 *
 *     add ─► waiting (memory) ─► spill (file) ─► sink          nothing overtakes what waits
 */
export class WireUpload implements Upload {
  readonly length: number
  readonly #onDrain: () => void
  readonly #isRaw: boolean
  readonly #spill = new SpillFile()
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #sink: UploadSink | null = null
  #written = 0
  #isFull = false
  #hasEnded = false
  #trailers: readonly string[] | null = null
  #isDestroyed = false
  #isBroken = false
  /** True once the last byte was given to the connection. */
  isDone = false

  /** @param isRaw true if the connection frames the body itself, and copies the bytes. */
  constructor(length: number, onDrain: () => void, isRaw = false) {
    this.length = length
    this.#isRaw = isRaw
    this.#onDrain = onDrain
  }

  add(chunk: Uint8Array): boolean {
    if (this.#isDestroyed) return true
    const sink = this.#sink
    if (sink !== null && this.#isEmpty && sink.unsentBytes < UPLOAD_MAX_BYTES) {
      this.#isFull = !this.#send(sink, chunk, false)
      return !this.#isFull
    }
    this.#wait(chunk)
    if (this.#waitingBytes >= UPLOAD_HIGH_WATER_BYTES || sink !== null) this.#isFull = true
    return !this.#isFull
  }

  end(trailers: readonly string[] | null = null): void {
    this.#trailers = trailers
    this.#hasEnded = true
    if (this.#sink !== null) this.flush()
  }

  destroy(): void {
    this.#isDestroyed = true
    this.#sink = null
    this.#waiting = []
    this.#spill.close()
  }

  /** Connects the upload to a connection after the head was written. */
  attach(sink: UploadSink): void {
    if (this.#isBroken) sink.onUploadBroken()
    if (this.#isDestroyed) return
    this.#sink = sink
    this.flush()
  }

  /** Writes waiting bytes when the connection accepts more. */
  flush(): void {
    const sink = this.#sink
    if (sink === null || this.isDone) return
    while (!this.#isEmpty) {
      if (!this.#send(sink, this.#next(), true)) {
        this.#isFull = true
        return
      }
    }
    if (this.#hasEnded) this.#finish(sink)
    else if (this.#isFull) {
      this.#isFull = false
      this.#onDrain()
    }
  }

  get #isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#spill.isEmpty
  }

  #wait(chunk: Uint8Array): void {
    if (this.#spill.isEmpty && this.#waitingBytes + chunk.length <= UPLOAD_MAX_BYTES) {
      this.#waiting.push(Buffer.from(chunk))
      this.#waitingBytes += chunk.length
      return
    }
    try {
      this.#spill.append(chunk)
    } catch {
      this.#break()
    }
  }

  #next(): Buffer {
    const piece = this.#waiting.shift()
    if (piece === undefined) return this.#spill.take(UPLOAD_HIGH_WATER_BYTES)
    this.#waitingBytes -= piece.length
    return piece
  }

  #send(sink: UploadSink, chunk: Uint8Array, isOurs: boolean): boolean {
    this.#written += chunk.length
    if (this.length < 0) return chunk.length === 0 || sink.write(this.#isRaw ? chunk : framed(chunk))
    if (this.#written <= this.length) return sink.write(isOurs || this.#isRaw ? chunk : Buffer.from(chunk))
    // The target would parse the excess bytes as another request.
    this.#break()
    return false
  }

  #finish(sink: UploadSink): void {
    if (this.length >= 0 && this.#written !== this.length) {
      this.#break()
      return
    }
    this.isDone = true
    if (this.#isRaw) sink.onUploadEnd?.(this.#trailers)
    else if (this.length < 0)
      sink.write(
        this.#trailers === null ? LAST_CHUNK : lastChunkWith(forwardableTrailers(this.#trailers) ?? []),
      )
  }

  #break(): void {
    const sink = this.#sink
    this.#isBroken = true
    this.destroy()
    sink?.onUploadBroken()
  }
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n', 'latin1')

/** Encodes the last chunk with trailers. Invalid trailers are dropped. */
function lastChunkWith(trailers: readonly string[]): Buffer {
  let lines = ''
  for (let i = 0; i < trailers.length; i += 2) {
    const name = trailers[i]!
    const value = trailers[i + 1]!
    const isValid = name !== '' && consistsOf(name, TOKEN_BYTES) && consistsOf(value, VALUE_BYTES)
    if (isValid) lines += `${name}: ${value}\r\n`
  }
  return Buffer.from(`0\r\n${lines}\r\n`, 'latin1')
}

/** Encodes a chunk with its size and line end, copying it once. */
function framed(chunk: Uint8Array): Buffer {
  const size = chunk.length.toString(16)
  const from = size.length + CRLF_BYTES
  const frame = Buffer.allocUnsafe(from + chunk.length + CRLF_BYTES)
  frame.write(size + '\r\n', 0, 'latin1')
  frame.set(chunk, from)
  frame.write('\r\n', from + chunk.length, 'latin1')
  return frame
}
