import type net from 'node:net'
import { getSystemErrorName } from 'node:util'
import { latin1Of, MAX_TEXT_BYTES } from '../latin1.js'

/** What Node.js keeps of a write that the system did not take at once. */
interface WriteRequest {
  oncomplete?: (status: number) => void
}

/** A socket below its stream: `net.Socket` writes by it as well. */
interface Handle {
  /** Answers with 0, or an error of which nothing was written. */
  writeLatin1String(request: WriteRequest, text: string): number
}

/** `stream_wrap` of Node.js, as far as it is used here. */
interface StreamWrap {
  readonly WriteWrap: new () => WriteRequest
  /** How the last write ended, at this place. */
  readonly streamBaseState: ArrayLike<number>
  readonly kLastWriteWasAsync: number
}

const wrap = streamWrap()
/** One for all writes that are done at once, which leave nothing in it. */
let spare: WriteRequest | null = wrap === null ? null : new wrap.WriteWrap()

/**
 * Writes requests to a connected socket, as texts where they are small, in order with what the socket itself is given.
 *
 *     write ─► handle ─► all taken: done, nothing is kept
 *                ├─► taken later: counted until then
 *                └─► an error, or nothing known of handles ─► the socket's stream, which tells errors
 *
 * The stream makes three objects and a callback on the next tick for every write, to tell what nobody asks here
 * ([ADR 15](../../../../../docs/adr/0015-requests-are-written-below-the-stream.md)).
 */
export class TextWriter {
  readonly #socket: net.Socket
  #handle: Handle | null = null
  #unsentBytes = 0

  constructor(socket: net.Socket) {
    this.#socket = socket
  }

  /** The socket is connected. */
  open(): void {
    if (wrap !== null) this.#handle = handleOf(this.#socket)
  }

  /** The socket is not written to any more. */
  close(): void {
    this.#handle = null
  }

  /** What the system has not taken yet, the socket's own writes included. */
  get unsentBytes(): number {
    return this.#unsentBytes + this.#socket.writableLength
  }

  write(text: string): void {
    // What waits in the stream comes first.
    if (this.#handle === null || this.#socket.writableLength > 0) {
      this.#socket.write(text, 'latin1')
      return
    }
    if (this.#handle.writeLatin1String(spare!, text) !== 0) this.#socket.write(text, 'latin1')
    else if (wrap!.streamBaseState[wrap!.kLastWriteWasAsync] !== 0) this.#await(text.length)
  }

  /** Writes a head with the body that is there already, in one system call. */
  writeRequest(head: string, body: Buffer | string | null): void {
    if (body === null || body.length === 0) this.write(head)
    else if (typeof body === 'string') this.write(head + body)
    else if (body.length <= MAX_TEXT_BYTES) this.write(head + latin1Of(body))
    else {
      this.#socket.cork()
      this.#socket.write(head, 'latin1')
      this.#socket.write(body)
      this.#socket.uncork()
    }
  }

  /** The last write goes on, and keeps the request that was made for it. */
  #await(bytes: number): void {
    this.#unsentBytes += bytes
    spare!.oncomplete = (status) => {
      this.#unsentBytes -= bytes
      if (status < 0) this.#socket.destroy(writeError(status))
    }
    spare = new wrap!.WriteWrap()
  }
}

/** Null in a Node.js that does not have it, or does not show it. */
function streamWrap(): StreamWrap | null {
  try {
    const { binding } = process as unknown as { readonly binding: (name: string) => Partial<StreamWrap> }
    const { WriteWrap, streamBaseState, kLastWriteWasAsync } = binding.call(process, 'stream_wrap')
    if (typeof WriteWrap !== 'function' || typeof kLastWriteWasAsync !== 'number') return null
    if (typeof streamBaseState?.[kLastWriteWasAsync] !== 'number') return null
    return { WriteWrap, streamBaseState, kLastWriteWasAsync }
  } catch {
    return null
  }
}

function handleOf(socket: net.Socket): Handle | null {
  const { _handle: handle } = socket as unknown as { readonly _handle?: Partial<Handle> | null }
  return typeof handle?.writeLatin1String === 'function' ? (handle as Handle) : null
}

/** As the stream would tell it. */
function writeError(status: number): NodeJS.ErrnoException {
  const code = getSystemErrorName(status)
  return Object.assign(new Error(`write ${code}`), { code, errno: status, syscall: 'write' })
}
