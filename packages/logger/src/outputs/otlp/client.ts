import type { Answer } from '../http/answer.js'
import { HttpRequests, withPath } from '../http/requests.js'
import type { OtlpOptions } from './options.js'
import { type PartialSuccess, readPartialSuccess } from './partial-success.js'

/** Response of a collector. */
export interface OtlpAnswer extends Answer {
  /** Null if everything was accepted, or if the request failed as a whole. */
  readonly partial: PartialSuccess | null
}

/** Client for one signal of an OpenTelemetry collector (OTLP/HTTP with protobuf). */
export class OtlpClient {
  readonly #requests: HttpRequests
  readonly #headers: Readonly<Record<string, string>>

  /** @param path path that is added to a URL without one. @throws Error if the URL is invalid. */
  constructor({ headers, ...options }: OtlpOptions, path: string) {
    const url = withPath(options.url, path)
    this.#requests = new HttpRequests(
      { ...options, url, auth: null },
      Object.values(headers).flatMap(secretsIn),
    )
    this.#headers = { ...headers, 'content-type': 'application/x-protobuf' }
  }

  /** Sends a message. @throws Error if there is no response in time. */
  async post(message: Buffer): Promise<OtlpAnswer> {
    const answer = await this.#requests.post(await this.#requests.encode(message), this.#headers)
    const partial = answer.status >= 200 && answer.status < 300 ? readPartialSuccess(answer) : null
    if (partial === null) return { ...answer, partial }
    return { ...answer, partial: { ...partial, message: this.#requests.shown(partial.message) } }
  }

  close(): void {
    this.#requests.close()
  }
}

/** Returns a value of a header and, for `Bearer TOKEN`, the token alone. */
function secretsIn(value: string): string[] {
  return [value, value.slice(value.indexOf(' ') + 1)]
}
