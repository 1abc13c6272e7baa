import { jsonText } from './json-text.js'
import type { RecordOptions } from './record-env.js'

type GatewayOptions = Pick<RecordOptions, 'node' | 'environment' | 'worker' | 'version' | 'configDigest'>

/**
 * Formats the part of a record that identifies the gateway. The text is cached until the configuration
 * changes.
 */
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
   * Returns `,"env":…,"gw":{"pod":…,"worker":…,"version":…,"config":…}`.
   * @param served Digest of the configuration that served the exchange. If empty, the current one is
   * recorded.
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
