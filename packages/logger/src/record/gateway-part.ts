import { jsonText } from './json-text.js'
import type { RecordOptions } from './record-env.js'

type GatewayOptions = Pick<RecordOptions, 'node' | 'environment' | 'worker' | 'version' | 'configDigest'>

/** Who served the exchange: the same text for every record, until another configuration takes over. */
export class GatewayPart {
  readonly #head: string
  readonly #configDigest: () => string
  #digest = ''
  #text = ''

  constructor({ node, environment = null, worker, version, configDigest }: GatewayOptions) {
    const env = environment === null ? '' : `,"env":"${jsonText(environment)}"`
    this.#head = `${env},"gw":{"pod":"${jsonText(node)}","worker":${worker},"version":"${jsonText(version)}","config":"`
    this.#configDigest = configDigest
  }

  /**
   * `,"env":…,"gw":{"pod":…,"worker":…,"version":…,"config":…}`
   * @param served the digest of the configuration that served the exchange; empty: none did, and the one of now is recorded.
   */
  text(served = ''): string {
    const digest = served === '' ? this.#configDigest() : served
    if (digest !== this.#digest || this.#text === '') {
      this.#digest = digest
      this.#text = this.#head + jsonText(digest) + '"}'
    }
    return this.#text
  }
}
