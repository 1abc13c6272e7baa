import { ByteCollector, type Exchange } from '@sluice/core'

/** Gathers a whole response body, up to the exchange's limit, for hooks that need it in one piece. */
export class ResponseCollector {
  readonly #gathered = new ByteCollector()
  readonly #maxBytes: number
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Copies the chunk, which is only valid during the call. False: the body has outgrown the limit. */
  add(chunk: Uint8Array): boolean {
    this.#bytes += chunk.length
    if (this.#bytes > this.#maxBytes) return false
    this.#gathered.add(chunk)
    return true
  }

  finish(x: Exchange): void {
    x.responseBody = this.#gathered.toBuffer()
  }
}

/**
 * The upstream is asked for the whole response as it is: a body in a content coding, or a part of one, is nothing that
 * a policy can read.
 */
export function askForPlainBody(x: Exchange): void {
  const kept: string[] = []
  for (let i = 0; i < x.headers.length; i += 2) {
    const name = x.headers[i]!
    if (name !== 'accept-encoding' && name !== 'range' && name !== 'if-range')
      kept.push(name, x.headers[i + 1]!)
  }
  x.headers = kept
}
