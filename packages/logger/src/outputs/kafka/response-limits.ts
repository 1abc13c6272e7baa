import type { Socket } from 'node:net'
import { Reader } from '@platformatic/kafka'

/** Maximum size of a response in bytes. Metadata of a topic with 10,000 partitions takes half of it. */
const MAX_RESPONSE_BYTES = 1024 ** 2
const LENGTH_BYTES = 4

/**
 * Closes a connection as soon as the length of a response is impossible. The client library would buffer
 * responses of any length.
 */
export function limitResponses(socket: Socket): void {
  const isPlausible = lengthCheck()
  const emit = socket.emit.bind(socket) as (event: string, ...values: unknown[]) => boolean
  socket.emit = (event: string, ...values: unknown[]) => {
    if (event !== 'data' || isPlausible(values[0] as Buffer)) return emit(event, ...values)
    socket.destroy(new Error('a response has an impossible length'))
    return false
  }
}

/** Returns a function that follows the lengths of responses in a stream, chunk by chunk. */
function lengthCheck(): (chunk: Buffer) => boolean {
  let missing = 0
  let length = 0
  let lengthBytes = 0
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (missing > 0) {
        const taken = Math.min(missing, chunk.length - at)
        missing -= taken
        at += taken
        continue
      }
      length = length * 256 + chunk[at++]!
      if (++lengthBytes < LENGTH_BYTES) continue
      if (length < LENGTH_BYTES || length > MAX_RESPONSE_BYTES) return false
      missing = length
      length = lengthBytes = 0
    }
    return true
  }
}

/**
 * Reader that never moves backwards. A response with negative lengths could otherwise keep the library
 * reading the same bytes until the memory is full.
 */
export class ForwardReader extends Reader {
  override readNullableString(compact?: boolean, encoding?: BufferEncoding): string | null {
    const before = this.position
    return this.#checked(before, super.readNullableString(compact, encoding))
  }

  override readNullableBytes(compact?: boolean): Buffer | null {
    const before = this.position
    return this.#checked(before, super.readNullableBytes(compact))
  }

  #checked<T>(before: number, value: T): T {
    if (this.position > before && this.position <= this.length) return value
    throw new RangeError('a response has an impossible length')
  }
}
