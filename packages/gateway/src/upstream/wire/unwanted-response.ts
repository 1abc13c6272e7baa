import type { AttemptObserver } from '../transport.js'
import { WireAttempt } from './wire-attempt.js'

/** What is read on for the sake of the requests behind it; more than costs more than asking for those again. */
const MAX_UNWANTED_BYTES = 64 * 1024

/** The response to an attempt that was given up, while others wait behind it on the same connection. */
class UnwantedResponse implements AttemptObserver {
  readonly #onTooLong: () => void
  #bytes = 0

  constructor(onTooLong: () => void) {
    this.#onTooLong = onTooLong
  }

  onData(chunk: Uint8Array): void {
    this.#bytes += chunk.length
    if (this.#bytes > MAX_UNWANTED_BYTES) this.#onTooLong()
  }

  onStarted(): void {}
  onTakenBack(): void {}
  onHead(): void {}
  onEnd(): void {}
  onFailure(): void {}
}

/** Takes the place of a begun attempt that was given up, so that its response is read to the end and thrown away. */
export function unwanted(attempt: WireAttempt, onTooLong: () => void): WireAttempt {
  const { request, head, isFresh, isPipelinable, connection } = attempt
  const way = { head, isFresh, isPipelinable, owner: NOBODY }
  const stand = new WireAttempt(request, new UnwantedResponse(onTooLong), way)
  stand.hasBegun = true
  stand.connection = connection
  return stand
}

const NOBODY = { onAbandoned: (): void => {} }
