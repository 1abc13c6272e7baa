/** Minimum distance between measured calls in milliseconds, because one hiccup delays many calls. */
const SAMPLE_EVERY_MS = 50
/** Weight of a call in the average. */
const WEIGHT = 1 / 8
/** Time in milliseconds that a slow server has to be fast before it recovers. */
const FAST_FOR_MS = 5000

/**
 * Detects slow servers by their average latency. A server becomes slow if the average exceeds the bound.
 * It recovers if the average stays below half of the bound for FAST_FOR_MS, which prevents flapping.
 */
export class LatencyMeter {
  isSlow = false
  averageMs = 0
  readonly #slowAfterMs: number
  #sampledMono = Number.NEGATIVE_INFINITY
  #fastSinceMono: number | null = null

  constructor(slowAfterMs: number) {
    this.#slowAfterMs = slowAfterMs
  }

  /** Adds a response. Returns true if the server has just become slow or recovered. */
  add(sentMono: number, nowMono: number): boolean {
    if (sentMono - this.#sampledMono < SAMPLE_EVERY_MS) return false
    this.#sampledMono = sentMono
    // Limit outliers: a call that hangs counts no more than one that is clearly slow.
    const latencyMs = Math.min(nowMono - sentMono, 2 * this.#slowAfterMs)
    this.averageMs += WEIGHT * (latencyMs - this.averageMs)
    const wasSlow = this.isSlow
    if (this.averageMs > this.#slowAfterMs) {
      this.isSlow = true
      this.#fastSinceMono = null
    } else if (this.averageMs >= this.#slowAfterMs / 2) this.#fastSinceMono = null
    else {
      this.#fastSinceMono ??= nowMono
      if (nowMono - this.#fastSinceMono >= FAST_FOR_MS) this.isSlow = false
    }
    return this.isSlow !== wasSlow
  }

  /** Resets the meter after a delay of this process, which makes every server look slow. A slow server stays slow. */
  forgive(): void {
    if (!this.isSlow) this.averageMs = 0
  }
}
