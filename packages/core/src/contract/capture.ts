import { createHash, type Hash } from 'node:crypto'
import { headerValue } from '../http/header-list.js'

/** Memory limit for the captured bodies of all exchanges in progress, in bytes. */
const MAX_HELD_BYTES = 64 * 1024 ** 2

/**
 * Memory budget for captured bodies, shared by all exchanges of a process so that many captures cannot
 * exhaust memory.
 */
export class CaptureMemory {
  /** Bytes currently in use. */
  heldBytes = 0
  /** Number of bodies that were truncated because the budget was exhausted. */
  cutBodies = 0
  readonly #limit: number

  constructor(limit = MAX_HELD_BYTES) {
    this.#limit = limit
  }

  /**
   * Reserves bytes. Returns false if they do not fit in the budget. The caller must not ask again for the
   * same body.
   */
  take(bytes: number): boolean {
    if (this.heldBytes + bytes > this.#limit) {
      this.cutBodies++
      return false
    }
    this.heldBytes += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.heldBytes -= bytes
  }
}

/** The memory budget of this process. */
export const CAPTURE_MEMORY = new CaptureMemory()

/** Parts of one message that are captured for the traffic log. */
export interface RegionRules {
  readonly headers: boolean
  readonly body: boolean
}

/** Rules for capturing an exchange's messages for the traffic log. */
export interface CaptureRules {
  /** Request as the client sent it. */
  readonly requestIn: RegionRules
  /** Request as sent to the target. */
  readonly requestUp: RegionRules
  /** Response as the target sent it. */
  readonly responseUp: RegionRules
  /** Response as sent to the client. */
  readonly responseOut: RegionRules
  /** Maximum number of bytes kept per body. */
  readonly maxBodyBytes: number
  /** True if the SHA-256 of each complete body is computed. */
  readonly sha256: boolean
  /** Header fields that are logged, in lower case, or null for all. */
  readonly headersAllow: readonly string[] | null
  /** Header fields that are not logged, in lower case. */
  readonly headersDeny: readonly string[]
  /** Handling of binary bodies: `omit` logs their size only, `base64` logs them encoded. */
  readonly binary: 'omit' | 'base64'
  /**
   * Handling of multipart forms: `names` logs only the header lines of the parts, `values` also logs their
   * values. Files are never logged.
   */
  readonly multipart: 'names' | 'values'
  /** Exchanges whose bodies are kept, decided when the exchange ends. Null keeps all. */
  readonly keepBodyOn: KeepBodyRules | null
}

/** Fields of an exchange that can be captured. */
interface CapturedMessages {
  readonly headers: readonly string[]
  readonly contentLength: number
  readonly body: Uint8Array | null
  readonly responseHeaders: readonly string[]
}

/** Conditions for keeping the bodies of an exchange. One match is enough. */
export interface KeepBodyRules {
  readonly results: readonly ('error' | 'blocked' | 'aborted' | 'shed')[]
  /** Keeps exchanges that took longer than this, in milliseconds. Null disables the condition. */
  readonly slowMs: number | null
  /** Keeps exchanges with this status or a higher one. Null disables the condition. */
  readonly status: number | null
  /** Fraction of exchanges to sample, from 0 to 1. Null disables sampling. */
  readonly share: number | null
}

/** A captured body, possibly truncated. */
export interface BodyBeginning {
  /** Size of the complete body in bytes, as far as it was transferred. */
  readonly bytes: number
  /** Content-Type and Content-Encoding of the message. */
  readonly contentType: string
  readonly encoding: string
  /** True if the body was truncated because the shared memory budget was exhausted. */
  readonly isStarved: boolean
  /** The captured bytes. */
  readonly beginning: Uint8Array
  readonly isTruncated: boolean
  /** SHA-256 of all transferred bytes in hexadecimal, or empty if it was not requested. */
  readonly sha256: string
}

/** Copies the beginning of a body while it is transferred, up to a limit. */
export class CapturedBody implements BodyBeginning {
  bytes = 0
  readonly contentType: string
  readonly encoding: string
  isStarved = false
  readonly #limit: number
  readonly #memory: CaptureMemory
  readonly #hash: Hash | null
  #digest = ''
  #isReleased = false
  #kept: Uint8Array = NOTHING
  #length = 0

  constructor(
    { maxBodyBytes, sha256 }: Pick<CaptureRules, 'maxBodyBytes' | 'sha256'>,
    headers: readonly string[],
    memory: CaptureMemory = CAPTURE_MEMORY,
  ) {
    this.#limit = maxBodyBytes
    this.#hash = sha256 ? createHash('sha256') : null
    this.#memory = memory
    this.contentType = headerValue(headers, 'content-type') ?? ''
    this.encoding = headerValue(headers, 'content-encoding') ?? ''
  }

  get beginning(): Uint8Array {
    return this.#kept.subarray(0, this.#length)
  }

  get isTruncated(): boolean {
    return this.bytes > this.#length
  }

  /** SHA-256 in hexadecimal. Read it only after the body has ended: bytes added later are not included. */
  get sha256(): string {
    if (this.#hash !== null && this.#digest === '') this.#digest = this.#hash.digest('hex')
    return this.#digest
  }

  add(chunk: Uint8Array): void {
    this.bytes += chunk.length
    if (this.#hash !== null && this.#digest === '') this.#hash.update(chunk)
    const taken = Math.min(chunk.length, this.#limit - this.#length)
    if (taken === 0 || this.isStarved || this.#isReleased) return
    if (!this.#makeRoom(this.#length + taken)) {
      // Later chunks are not kept either, because the captured part must have no gaps.
      this.isStarved = true
      return
    }
    this.#kept.set(taken === chunk.length ? chunk : chunk.subarray(0, taken), this.#length)
    this.#length += taken
  }

  /** Doubles the buffer, so that a body in many small chunks is copied only a few times. */
  #makeRoom(length: number): boolean {
    if (length <= this.#kept.length) return true
    const size = Math.min(this.#limit, Math.max(length, this.#kept.length * 2))
    if (!this.#memory.take(size - this.#kept.length)) return false
    const roomy = new Uint8Array(size)
    roomy.set(this.beginning)
    this.#kept = roomy
    return true
  }

  /** Returns this capture truncated to `limit` bytes. */
  upTo(limit: number): BodyBeginning {
    if (this.#length <= limit) return this
    const { bytes, contentType, encoding, isStarved, sha256 } = this
    const beginning = this.beginning.subarray(0, limit)
    return { bytes, contentType, encoding, isStarved, sha256, beginning, isTruncated: true }
  }

  /** Releases the memory and stops capturing. Safe to call repeatedly. */
  release(): void {
    this.#isReleased = true
    this.#memory.giveBack(this.#kept.length)
    this.#kept = NOTHING
    this.#length = 0
  }
}

const NOTHING = new Uint8Array(0)

/**
 * Captured messages of one exchange. A streamed body is identical on both sides of the gateway and is
 * captured once. Only bodies that the gateway buffers or generates are captured separately.
 *
 *     client ─► received ─► (sent: buffered body) ─► target ─► answered ─► (replied: generated by the gateway) ─► client
 */
export class Capture {
  readonly rules: CaptureRules
  /** Request fields as the client sent them. */
  readonly requestHeaders: readonly string[] | null
  /** Response fields as the target sent them. */
  responseHeaders: readonly string[] | null = null
  /** Host field sent to the target, or empty if there was no attempt. */
  upstreamHost = ''
  received: CapturedBody | null = null
  sent: CapturedBody | null = null
  answered: CapturedBody | null = null
  replied: CapturedBody | null = null
  /** True after the bodies were dropped. A capture started later would never be released. */
  #isOver = false

  constructor(rules: CaptureRules, x: CapturedMessages) {
    this.rules = rules
    this.requestHeaders = rules.requestIn.headers ? x.headers.slice() : null
    if (x.contentLength !== 0 && (rules.requestIn.body || rules.requestUp.body))
      this.received = new CapturedBody(rules, x.headers)
  }

  onRequestChunk(chunk: Uint8Array): void {
    if (this.received !== null) this.received.add(chunk)
  }

  /** Captures the start of an attempt, replacing that of an earlier attempt. */
  onDispatch(x: CapturedMessages, host: string): void {
    this.upstreamHost = host
    if (this.#isOver || x.body === null || !this.rules.requestUp.body) return
    this.sent?.release()
    this.sent = new CapturedBody(this.rules, x.headers)
    this.sent.add(x.body)
  }

  /** Captures the response head of the target, before any policy changes it. */
  onResponseHead(headers: readonly string[]): void {
    const { responseUp, responseOut } = this.rules
    if (responseUp.headers) this.responseHeaders = headers.slice()
    if (this.#isOver || (!responseUp.body && !responseOut.body)) return
    this.answered?.release()
    this.answered = new CapturedBody(this.rules, headers)
  }

  onResponseChunk(chunk: Uint8Array): void {
    if (this.answered !== null) this.answered.add(chunk)
  }

  /** Captures a response generated by the gateway. */
  onReply(x: CapturedMessages, body: Uint8Array | null): void {
    if (this.#isOver || !this.rules.responseOut.body) return
    this.replied?.release()
    this.replied = new CapturedBody(this.rules, x.responseHeaders)
    if (body !== null) this.replied.add(body)
  }

  /** Releases all bodies and captures no more. Header fields are kept. */
  dropBodies(): void {
    this.#isOver = true
    for (const body of [this.received, this.sent, this.answered, this.replied]) body?.release()
    this.received = null
    this.sent = null
    this.answered = null
    this.replied = null
  }
}
