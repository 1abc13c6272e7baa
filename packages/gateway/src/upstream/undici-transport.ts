import { Readable } from 'node:stream'
import { type Dispatcher, Pool } from 'undici'
import { type ConnectorOptions, createConnector } from './connector.js'
import { failureOf } from './failure.js'
import { SpillFile } from './spill-file.js'
import type { Attempt, AttemptObserver, Failure, Transport, Upload, UpstreamRequest } from './transport.js'

export interface UndiciTransportOptions extends ConnectorOptions {
  /** `http://host:port` or `https://host:port`. */
  readonly origin: string
  readonly connections: number
  readonly keepAliveMs: number
  readonly maxHeaderBytes: number
  /** Connections to a name are renewed after this time, so that a changed record is followed. */
  readonly maxConnectionAgeMs: number
}

/** 1xx responses in front of one final response; a target that sends more is cut off. */
const MAX_INFORMATIONAL = 16
/** Upload bytes held while the target does not read. */
const UPLOAD_HIGH_WATER_BYTES = 256 * 1024
/** Upload bytes held in memory at most; a read of the listener is up to 512 KB. */
const UPLOAD_MAX_BYTES = 2 * 1024 * 1024

const TOO_MANY_INFORMATIONAL: Failure = {
  code: 'GW_UPSTREAM_INVALID',
  detail: 'the target sent too many informational responses',
  phase: 'exchange',
}
const BAD_STATUS: Failure = {
  code: 'GW_UPSTREAM_INVALID',
  detail: 'the status of the response is out of range',
  phase: 'exchange',
}

/**
 * HTTP/1.1 over undici pools: no pipelining, time-outs left to the pipeline's timer wheel. A second pool without
 * keep-alive serves the one retry after a kept connection turned out to be dead.
 */
export class UndiciTransport implements Transport {
  readonly #options: UndiciTransportOptions
  readonly #pool: Pool
  #fresh: Pool | null = null

  constructor(options: UndiciTransportOptions) {
    this.#options = options
    this.#pool = createPool(options, 1)
  }

  dispatch(request: UpstreamRequest, observer: AttemptObserver, isFresh: boolean): Attempt {
    const attempt = new UndiciAttempt(observer, request.method === 'HEAD')
    const pool = isFresh ? this.#freshPool() : this.#pool
    try {
      pool.dispatch(toOptions(request), attempt)
    } catch (error) {
      attempt.onError(error as Error)
    }
    return attempt
  }

  createUpload(length: number, onDrain: () => void): Upload {
    return new UndiciUpload(length, onDrain)
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.#fresh?.close()])
  }

  #freshPool(): Pool {
    this.#fresh ??= createPool(this.#options, 0)
    return this.#fresh
  }
}

function createPool(options: UndiciTransportOptions, pipelining: 0 | 1): Pool {
  return new Pool(options.origin, {
    connections: options.connections,
    pipelining,
    connect: createConnector(options),
    keepAliveTimeout: options.keepAliveMs,
    keepAliveMaxTimeout: options.keepAliveMs,
    keepAliveTimeoutThreshold: 500,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: options.maxHeaderBytes,
    clientTtl: options.maxConnectionAgeMs,
  })
}

function toOptions(request: UpstreamRequest): Dispatcher.DispatchOptions {
  const { upload } = request
  const headers = request.headers.slice()
  headers.push('host', request.host)
  if (upload !== null && upload.length >= 0) headers.push('content-length', String(upload.length))
  return {
    path: request.path,
    method: request.method as Dispatcher.HttpMethod,
    headers,
    body: upload === null ? request.body : (upload as UndiciUpload),
    // Without pipelining nothing may share the connection anyway.
    blocking: false,
  }
}

/** undici's view of one attempt: the raw handler, because it alone gives the response fields without an object. */
class UndiciAttempt implements Attempt, Dispatcher.DispatchHandler {
  readonly #observer: AttemptObserver
  readonly #isHead: boolean
  #abort: ((error?: Error) => void) | null = null
  #resume: (() => void) | null = null
  #informational = 0
  #status = 0
  #isPaused = false
  #isOver = false

  constructor(observer: AttemptObserver, isHead: boolean) {
    this.#observer = observer
    this.#isHead = isHead
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#resume?.()
  }

  abort(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#abort?.()
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort
    if (this.#isOver) abort()
    else this.#observer.onStarted()
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    if (this.#isOver) return true
    if (status < 200) return this.#onInformational()
    if (status > 599) return this.#fail(BAD_STATUS)
    this.#status = status
    this.#resume = resume
    this.#observer.onHead(status, toHeaderList(raw))
    return !this.#isPaused
  }

  onData(chunk: Buffer): boolean {
    if (this.#isOver) return true
    this.#observer.onData(chunk)
    return !this.#isPaused
  }

  onComplete(): void {
    this.#end()
  }

  onError(error: Error): void {
    if (this.#isOver) return
    // A 304, a 204 or a response to HEAD may carry the length of a body that it does not have.
    if (isLengthMismatch(error) && (this.#isHead || this.#status === 304 || this.#status === 204)) this.#end()
    else this.#fail(failureOf(error))
  }

  #onInformational(): boolean {
    this.#informational++
    return this.#informational > MAX_INFORMATIONAL ? this.#fail(TOO_MANY_INFORMATIONAL) : true
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#observer.onEnd()
  }

  #fail(failure: Failure): boolean {
    this.#isOver = true
    this.#observer.onFailure(failure)
    this.#abort?.()
    return true
  }
}

function isLengthMismatch(error: Error): boolean {
  return 'code' in error && error.code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'
}

/** Node.js has the method, its type declarations do not; it is half the cost of toString('latin1'). */
interface Latin1Buffer extends Buffer {
  latin1Slice(): string
}

function toHeaderList(raw: readonly Buffer[]): string[] {
  const list: string[] = new Array<string>(raw.length)
  for (let i = 0; i < raw.length; i += 2) {
    list[i] = (raw[i] as Latin1Buffer).latin1Slice().toLowerCase()
    list[i + 1] = (raw[i + 1] as Latin1Buffer).latin1Slice()
  }
  return list
}

/** The request body as the Readable that undici wants. What comes in spite of a pause waits in a file. */
class UndiciUpload extends Readable implements Upload {
  readonly length: number
  readonly #onDrain: () => void
  readonly #spill = new SpillFile()
  #isFull = false
  #hasEnded = false

  constructor(length: number, onDrain: () => void) {
    super({ highWaterMark: UPLOAD_HIGH_WATER_BYTES })
    this.length = length
    this.#onDrain = onDrain
    // An early response makes undici destroy the body; that is no error of ours.
    this.on('error', () => {})
  }

  override _read(): void {
    if (!this.#spill.isEmpty) this.#pushSpilled()
    else if (this.#isFull) {
      this.#isFull = false
      this.#onDrain()
    }
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#spill.close()
    done(error)
  }

  add(chunk: Uint8Array): boolean {
    if (this.destroyed) return true
    if (this.#isFull && this.readableLength > UPLOAD_MAX_BYTES) return this.#spillChunk(chunk)
    if (!this.#spill.isEmpty) return this.#spillChunk(chunk)
    const hasRoom = this.push(Buffer.from(chunk))
    if (!hasRoom) this.#isFull = true
    return hasRoom
  }

  end(): void {
    this.#hasEnded = true
    if (!this.destroyed && this.#spill.isEmpty) this.push(null)
  }

  #spillChunk(chunk: Uint8Array): boolean {
    try {
      this.#spill.append(chunk)
    } catch (error) {
      this.destroy(error as Error)
    }
    return false
  }

  #pushSpilled(): void {
    this.push(this.#spill.take(UPLOAD_HIGH_WATER_BYTES))
    if (this.#spill.isEmpty && this.#hasEnded) this.push(null)
  }
}
