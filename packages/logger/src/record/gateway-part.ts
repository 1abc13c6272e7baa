import { jsonText } from './json-text.js'

/** Who served the exchange: the same text for every record, until another configuration takes over. */
export class GatewayPart {
  readonly #head: string
  readonly #configDigest: () => string
  #digest = ''
  #text = ''

  /** @param configDigest the digest of the configuration that serves now; asked for once a record. */
  constructor(gateway: { node: string; worker: number; version: string }, configDigest: () => string) {
    const { node, worker, version } = gateway
    this.#head = `,"gw":{"pod":"${jsonText(node)}","worker":${worker},"version":"${jsonText(version)}","config":"`
    this.#configDigest = configDigest
  }

  /** `,"gw":{"pod":…,"worker":…,"version":…,"config":…}` */
  text(): string {
    const digest = this.#configDigest()
    if (digest !== this.#digest || this.#text === '') {
      this.#digest = digest
      this.#text = this.#head + jsonText(digest) + '"}'
    }
    return this.#text
  }
}
