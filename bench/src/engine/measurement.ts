import type { ErrorClass, LoadResult } from '../model/engine.js'
import { emptyHistogram, record, spectrumOf } from '../model/spectrum.js'
import { NO_ERRORS } from '../model/summary.js'
import type { SentRequest } from './paced-client.js'

/** Request counts and latencies of the measured time. */
export class Measurement {
  readonly #latencies = emptyHistogram()
  readonly #errors = { ...NO_ERRORS }
  readonly #isPlanned: boolean
  #beginMono = Number.POSITIVE_INFINITY
  #endMono = Number.POSITIVE_INFINITY
  #requests = 0
  #earlier = 0
  #failures = 0

  /**
   * With a plan, counts requests that were due in the measured time, whenever they are answered. A server that
   * stops shortly before the end is then not favoured. Without a plan, counts responses in the measured time.
   */
  constructor(isPlanned: boolean) {
    this.#isPlanned = isPlanned
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

  answered(sent: SentRequest, status: number): void {
    const nowMono = performance.now()
    if (this.#isPlanned ? sent.isEarly : nowMono < this.#beginMono) this.#earlier++
    if (status < 200 || status > 299) this.#fail(sent, 'status', nowMono)
    else if (this.#counts(sent, nowMono)) {
      this.#requests++
      record(this.#latencies, (nowMono - sent.fromMono) * 1000)
    }
  }

  failed(sent: SentRequest, kind: ErrorClass): void {
    this.#fail(sent, kind, performance.now())
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
    }
  }

  #fail(sent: SentRequest, kind: ErrorClass, nowMono: number): void {
    if (!this.#counts(sent, nowMono)) return
    this.#errors[kind]++
    this.#failures++
  }

  #counts(sent: SentRequest, nowMono: number): boolean {
    if (this.#isPlanned) return !sent.isEarly
    return nowMono >= this.#beginMono && nowMono < this.#endMono
  }
}
