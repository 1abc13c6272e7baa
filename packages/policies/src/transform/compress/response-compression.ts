import {
  type BodyFilter,
  type Exchange,
  type Filtered,
  type HeaderList,
  hasContentCoding,
  headerJoined,
  headerValue,
  mediaType,
  removeHeader,
  setHeader,
} from '@sluice/core'
import type { Coding, CodingChoice } from './accept-encoding.js'
import type { Codec } from './codecs.js'
import { isStreamType } from './media-types.js'
import { StreamedCompression } from './streamed-compression.js'

/**
 * Bodies up to this size, in bytes, are compressed synchronously. That takes 0.2 ms, less than a round trip
 * to a thread.
 */
const AT_ONCE_BYTES = 16 * 1024
/** Maximum memory of all compressions in a worker, in bytes. */
const MAX_WORKER_BYTES = 64 * 1024 * 1024

/** Memory used by the streams of this worker. */
export interface CompressionMemory {
  heldBytes: number
}

/** Settings that do not depend on the response. */
export interface CompressionRules {
  readonly isCompressible: (type: string) => boolean
  readonly minBytes: number
  readonly memory: CompressionMemory
  readonly count: (result: Coding | 'busy') => void
}

/** Compresses one response, if that is allowed and worthwhile. */
export class ResponseCompression implements BodyFilter {
  readonly name = 'compress'
  readonly keepsLength = false
  readonly #rules: CompressionRules
  readonly #choice: CodingChoice
  readonly #codec: Codec | null
  #stream: StreamedCompression | null = null
  /** Body received so far for synchronous compression, or null if none. */
  #first: Buffer | null = null

  /** @param codec codec of the chosen coding, or null if none was chosen. */
  constructor(rules: CompressionRules, choice: CodingChoice, codec: Codec | null) {
    this.#rules = rules
    this.#choice = choice
    this.#codec = codec
  }

  begin(x: Exchange, length: number): boolean {
    const fields = x.responseHeaders
    const type = mediaType(headerValue(fields, 'content-type') ?? '')
    if (!mayChange(x) || !(this.#rules.isCompressible(type) || this.#choice.isForced)) return false
    varyByEncoding(fields)
    if (this.#codec === null) return false
    // The fields of a 304 describe the representation that the client has cached.
    if (x.status === 304) {
      weakenETag(fields)
      return false
    }
    if (length === 0 || (length >= 0 && length < this.#rules.minBytes && !this.#choice.isForced)) return false
    if (!this.#open(this.#codec, x.method, length, isStreamType(type))) return false
    setHeader(fields, 'content-encoding', this.#codec.coding)
    weakenETag(fields)
    removeHeader(fields, 'accept-ranges')
    return true
  }

  write(piece: Uint8Array): Filtered {
    if (this.#stream !== null) return this.#stream.write(piece)
    this.#first = this.#first === null ? Buffer.from(piece) : Buffer.concat([this.#first, piece])
    return null
  }

  end(): Filtered {
    if (this.#stream !== null) return this.#stream.end()
    return this.#codec!.compress(this.#first ?? NOTHING)
  }

  close(): void {
    if (this.#stream === null) return
    this.#stream.close()
    this.#stream = null
    this.#rules.memory.heldBytes -= this.#codec!.streamBytes
  }

  /** Opens the compression. Returns false if no memory is left for it. */
  #open(codec: Codec, method: string, length: number, isFlushed: boolean): boolean {
    const { memory, count } = this.#rules
    const isAtOnce = length >= 0 && length <= AT_ONCE_BYTES
    if (!isAtOnce && memory.heldBytes + codec.streamBytes > MAX_WORKER_BYTES) {
      count('busy')
      return false
    }
    count(codec.coding)
    if (isAtOnce || method === 'HEAD') return true
    memory.heldBytes += codec.streamBytes
    this.#stream = new StreamedCompression(codec, isFlushed)
    return true
  }
}

/** True if the body may be transformed (RFC 9110 section 7.7) and no field depends on its exact bytes. */
function mayChange(x: Exchange): boolean {
  const fields = x.responseHeaders
  if (x.status === 204 || x.status === 206 || x.status < 200 || hasContentCoding(fields)) return false
  for (const name of BOUND_TO_BYTES) if (headerValue(fields, name) !== null) return false
  const control = headerJoined(fields, 'cache-control')
  return control === null || !control.toLowerCase().includes('no-transform')
}

const BOUND_TO_BYTES = ['content-range', 'content-digest', 'repr-digest', 'digest', 'content-md5']

function varyByEncoding(fields: HeaderList): void {
  const vary = headerJoined(fields, 'vary')
  if (vary === null || !/(?:^|[\s,])(?:\*|accept-encoding)(?:$|[\s,])/i.test(vary))
    fields.push('vary', 'Accept-Encoding')
}

/** Makes the ETag weak: the bytes change, but the content does not (RFC 9110 section 8.8.1). */
function weakenETag(fields: HeaderList): void {
  const tag = headerValue(fields, 'etag')
  if (tag?.startsWith('"') === true) setHeader(fields, 'etag', `W/${tag}`)
}

const NOTHING = Buffer.alloc(0)
