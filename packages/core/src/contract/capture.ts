import { createHash, type Hash } from 'node:crypto'
import { headerValue } from '../http/header-list.js'
import { CAPTURE_MEMORY, type CaptureMemory } from './capture-memory.js'

/** What of one region of a message is kept for the traffic log. */
export interface RegionRules {
  readonly headers: boolean
  readonly body: boolean
}

/** What of an exchange is kept for the traffic log, beside its record. */
export interface CaptureRules {
  /** As the client sent it. */
  readonly requestIn: RegionRules
  /** As it went to the target. */
  readonly requestUp: RegionRules
  /** As the target sent it. */
  readonly responseUp: RegionRules
  /** As it went to the client. */
  readonly responseOut: RegionRules
  /** The most of a body that is kept, for each region. */
  readonly maxBodyBytes: number
  /** The SHA-256 of each whole body is made. */
  readonly sha256: boolean
  /** Header fields that are logged, lower case; null: all. */
  readonly headersAllow: readonly string[] | null
  /** Header fields that are not logged, lower case. */
  readonly headersDeny: readonly string[]
  /** What becomes of bodies that are not text: left out but for their size, or kept as base64. */
  readonly binary: 'omit' | 'base64'
  /** Of the fields of a multipart form: the field lines alone, or what they hold as well. Files are never logged. */
  readonly multipart: 'names' | 'values'
  /** The exchanges whose bodies are kept, known at their end; null: all. */
  readonly keepBodyOn: KeepBodyRules | null
}

/** What of an exchange is captured. */
interface CapturedMessages {
  readonly headers: readonly string[]
  readonly contentLength: number
  readonly body: Uint8Array | null
  readonly responseHeaders: readonly string[]
}

/** An exchange keeps its bodies when any of this is true of it. */
export interface KeepBodyRules {
  readonly results: readonly ('error' | 'blocked' | 'aborted' | 'shed')[]
  /** It took longer than this; null: no matter how long. */
  readonly slowMs: number | null
  /** Its status is this one or higher; null: no matter which. */
  readonly status: number | null
  /** It is in the sample of this share of all, 0 to 1; null: there is no sample. */
  readonly share: number | null
}

/** What is known of a body of which the beginning was kept. */
export interface BodyBeginning {
  /** Of the whole body as far as it passed. */
  readonly bytes: number
  /** What Content-Type and Content-Encoding said of it. */
  readonly contentType: string
  readonly encoding: string
  /** Less is kept than was asked for, because all captures together held too much. */
  readonly isStarved: boolean
  /** What was kept. */
  readonly beginning: Uint8Array
  readonly isTruncated: boolean
  /** The SHA-256 of all bytes that passed, in hexadecimal; empty: it was not asked for. */
  readonly sha256: string
}

/** The beginning of a body, copied while it passes. It never holds more than its limit. */
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

  /** Asked for once the body is over: nothing that comes behind is in it. */
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
      // Nothing that comes later is kept either: a beginning has no holes.
      this.isStarved = true
      return
    }
    this.#kept.set(taken === chunk.length ? chunk : chunk.subarray(0, taken), this.#length)
    this.#length += taken
  }

  /** Grows to twice the size, so that a body in many small chunks is copied a few times at most. */
  #makeRoom(length: number): boolean {
    if (length <= this.#kept.length) return true
    const size = Math.min(this.#limit, Math.max(length, this.#kept.length * 2))
    if (!this.#memory.take(size - this.#kept.length)) return false
    const roomy = new Uint8Array(size)
    roomy.set(this.beginning)
    this.#kept = roomy
    return true
  }

  /** The same with no more of the beginning than this. */
  upTo(limit: number): BodyBeginning {
    if (this.#length <= limit) return this
    const { bytes, contentType, encoding, isStarved, sha256 } = this
    const beginning = this.beginning.subarray(0, limit)
    return { bytes, contentType, encoding, isStarved, sha256, beginning, isTruncated: true }
  }

  /** Gives its memory back; it keeps nothing from then on, and a second time changes nothing. */
  release(): void {
    this.#isReleased = true
    this.#memory.giveBack(this.#kept.length)
    this.#kept = NOTHING
    this.#length = 0
  }
}

const NOTHING = new Uint8Array(0)

/**
 * What one exchange keeps for the traffic log. A streamed body is the same on both sides of the gateway, so it is kept
 * once for the two regions; only a body that the gateway makes itself stands beside it.
 *
 *     client ─► received ─► (sent: a collected body) ─► target ─► answered ─► (replied: the gateway's own) ─► client
 */
export class Capture {
  readonly rules: CaptureRules
  /** The fields as the client sent them. */
  readonly requestHeaders: readonly string[] | null
  /** The fields as the target sent them. */
  responseHeaders: readonly string[] | null = null
  /** The Host field towards the target; empty while none was asked. */
  upstreamHost = ''
  received: CapturedBody | null = null
  sent: CapturedBody | null = null
  answered: CapturedBody | null = null
  replied: CapturedBody | null = null
  /** Bodies are given up; one that began now would never be released. */
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

  /** An attempt begins; the last one counts. */
  onDispatch(x: CapturedMessages, host: string): void {
    this.upstreamHost = host
    if (this.#isOver || x.body === null || !this.rules.requestUp.body) return
    this.sent?.release()
    this.sent = new CapturedBody(this.rules, x.headers)
    this.sent.add(x.body)
  }

  /** The target answers with these fields, which are not changed yet. */
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

  /** The gateway answers by itself. */
  onReply(x: CapturedMessages, body: Uint8Array | null): void {
    if (this.#isOver || !this.rules.responseOut.body) return
    this.replied?.release()
    this.replied = new CapturedBody(this.rules, x.responseHeaders)
    if (body !== null) this.replied.add(body)
  }

  /** Gives up the bodies, also those to come, and keeps the rest. */
  dropBodies(): void {
    this.#isOver = true
    for (const body of [this.received, this.sent, this.answered, this.replied]) body?.release()
    this.received = null
    this.sent = null
    this.answered = null
    this.replied = null
  }
}
