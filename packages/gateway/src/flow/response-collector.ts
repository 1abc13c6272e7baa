import { ByteCollector, type Exchange } from '@sluice/core'

/** Collects a whole response body, up to the limit of the exchange, for hooks that need it in one piece. */
export class ResponseCollector {
  readonly #gathered = new ByteCollector()
  readonly #maxBytes: number
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Copies the chunk, which is valid only during the call. Returns false if the body exceeds the limit. */
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
 * Removes the fields that ask for compressed or partial content, because policies can read only a whole, unencoded
 * body.
 */
export function requestPlainBody(x: Exchange): void {
  const kept: string[] = []
  for (let i = 0; i < x.headers.length; i += 2) {
    const name = x.headers[i]!
    if (name !== 'accept-encoding' && name !== 'range' && name !== 'if-range')
      kept.push(name, x.headers[i + 1]!)
  }
  x.headers = kept
}
