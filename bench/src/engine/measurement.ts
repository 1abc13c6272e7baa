import type { ErrorClass, LoadResult } from '../model/engine.js'
import { emptyHistogram, record, spectrumOf } from './spectrum.js'
import type { Ask } from './steered-client.js'

/** Counts what belongs to the measured time, and only that. */
export class Measurement {
  readonly #latencies = emptyHistogram()
  readonly #errors: Record<ErrorClass, number> = { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 }
  readonly #isPlanned: boolean
  #beginMono = Number.POSITIVE_INFINITY
  #endMono = Number.POSITIVE_INFINITY
  #requests = 0
  #earlier = 0
  #failures = 0
  #answers = 0
  #receivedBytes = 0

  /**
   * Of planned requests those count that were due in the measured time, whenever they are answered: a server that stops
   * shortly before the end must not take them along. Without a plan it is the answers of the measured time.
   */
  constructor(isPlanned: boolean) {
    this.#isPlanned = isPlanned
  }

  /** Fixes the measured time. */
  between(beginMono: number, endMono: number): void {
    this.#beginMono = beginMono
    this.#endMono = endMono
  }

  /** All requests so far that count, good or bad. */
  get seen(): number {
    return this.#requests + this.#failures
  }

  /** @param bytes of the answer, whatever its status. */
  answered(ask: Ask, status: number, bytes: number): void {
    const nowMono = performance.now()
    if (this.#isPlanned ? ask.isEarly : nowMono < this.#beginMono) this.#earlier++
    if (this.#counts(ask, nowMono)) {
      this.#answers++
      this.#receivedBytes += bytes
    }
    if (status < 200 || status > 299) this.#fail(ask, 'status', nowMono)
    else if (this.#counts(ask, nowMono)) {
      this.#requests++
      record(this.#latencies, (nowMono - ask.fromMono) * 1000)
    }
  }

  failed(ask: Ask, kind: ErrorClass): void {
    this.#fail(ask, kind, performance.now())
  }

  /** Planned requests that nobody has answered by now are as good as timed out. */
  abandon(requests: number): void {
    this.#errors.timeout += requests
    this.#failures += requests
  }

  /**
   * @param requestBytes of each request.
   * @param leadInSeconds how long the load was under way before the measured time.
   */
  result(busyShare: number, requestBytes: number, leadInSeconds: number): LoadResult {
    return {
      ...(leadInSeconds > 0 ? { leadIn: { requests: this.#earlier, seconds: leadInSeconds } } : {}),
      requests: this.#requests,
      seconds: Math.round((this.#endMono - this.#beginMono) * 1000) / 1e6,
      errors: this.#errors,
      latency: spectrumOf(this.#latencies, this.#isPlanned),
      receivedBytes: this.#receivedBytes,
      sentBytes: this.#answers * requestBytes,
      busyShare,
    }
  }

  #fail(ask: Ask, kind: ErrorClass, nowMono: number): void {
    if (!this.#counts(ask, nowMono)) return
    this.#errors[kind]++
    this.#failures++
  }

  #counts(ask: Ask, nowMono: number): boolean {
    if (this.#isPlanned) return !ask.isEarly
    return nowMono >= this.#beginMono && nowMono < this.#endMono
  }
}
