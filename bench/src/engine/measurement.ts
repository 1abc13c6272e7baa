import type { ErrorClass, LoadResult, RequestSample } from '../model/engine.js'
import { emptyHistogram, record, spectrumOf } from '../model/spectrum.js'
import { NO_ERRORS } from '../model/summary.js'
import type { SentRequest, Transfer } from './paced-client.js'

/** Request counts and latencies of the measured time. */
export class Measurement {
  readonly #latencies = emptyHistogram()
  readonly #errors = { ...NO_ERRORS }
  readonly #isPlanned: boolean
  readonly #samples: RequestSample[] = []
  readonly #sampleCount: number
  #beginMono = Number.POSITIVE_INFINITY
  #endMono = Number.POSITIVE_INFINITY
  #requests = 0
  #earlier = 0
  #failures = 0

  /**
   * With a plan, counts requests that were due in the measured time, whenever they are answered. A server that
   * stops shortly before the end is then not favoured. Without a plan, counts responses in the measured time.
   * @param sampleCount number of requests to keep one by one
   */
  constructor(isPlanned: boolean, sampleCount = 0) {
    this.#isPlanned = isPlanned
    this.#sampleCount = sampleCount
  }

  /** Sets the measured time. */
  between(beginMono: number, endMono: number): void {
    this.#beginMono = beginMono
    this.#endMono = endMono
  }

  /** Number of counted requests so far, successful or not. */
  get seen(): number {
    return this.#requests + this.#failures
  }

  answered(sent: SentRequest, status: number, transfer: Transfer): void {
    const nowMono = performance.now()
    if (this.#isPlanned ? sent.isEarly : nowMono < this.#beginMono) this.#earlier++
    if (status < 200 || status > 299) {
      if (this.#fail(sent, 'status', nowMono)) this.#sample(sent, status, nowMono, transfer)
    } else if (this.#counts(sent, nowMono)) {
      this.#requests++
      record(this.#latencies, (nowMono - sent.fromMono) * 1000)
      this.#sample(sent, status, nowMono, transfer)
    }
  }

  failed(sent: SentRequest, kind: ErrorClass, transfer: Transfer): void {
    const nowMono = performance.now()
    if (this.#fail(sent, kind, nowMono)) this.#sample(sent, kind, nowMono, transfer)
  }

  /** Counts unanswered planned requests as timed out. */
  abandon(requests: number): void {
    this.#errors.timeout += requests
    this.#failures += requests
  }

  /** Returns the result. @param leadInSeconds duration of the load before the measured time */
  result(busyShare: number, leadInSeconds: number): LoadResult {
    return {
      ...(leadInSeconds > 0 ? { leadIn: { requests: this.#earlier, seconds: leadInSeconds } } : {}),
      requests: this.#requests,
      seconds: Math.round((this.#endMono - this.#beginMono) * 1000) / 1e6,
      errors: this.#errors,
      latency: spectrumOf(this.#latencies, this.#isPlanned),
      busyShare,
      ...(this.#sampleCount > 0 ? { samples: this.#samples } : {}),
    }
  }

  #fail(sent: SentRequest, kind: ErrorClass, nowMono: number): boolean {
    if (!this.#counts(sent, nowMono)) return false
    this.#errors[kind]++
    this.#failures++
    return true
  }

  /** Keeps each request with the same probability (Vitter 1985, algorithm R). */
  #sample(
    { fromMono }: SentRequest,
    outcome: RequestSample['outcome'],
    nowMono: number,
    sizes: Transfer,
  ): void {
    const count = this.#samples.length
    const at = count < this.#sampleCount ? count : Math.floor(Math.random() * this.seen)
    if (at >= this.#sampleCount) return
    const { headMono, bytes, sentBytes } = sizes
    const [atMs, elapsedMs] = [performance.timeOrigin + fromMono, nowMono - fromMono]
    const latencyMs = bytes === 0 ? 0 : Math.max(0, headMono - fromMono)
    this.#samples[at] = { atMs, elapsedMs, latencyMs, outcome, bytes, sentBytes }
  }

  #counts(sent: SentRequest, nowMono: number): boolean {
    if (this.#isPlanned) return !sent.isEarly
    return nowMono >= this.#beginMono && nowMono < this.#endMono
  }
}
