import { jsonText } from './json-text.js'

/** Number of hexadecimal digits of the configuration digest in records, as in `gw status`. */
const DIGEST_DIGITS = 12

/** Identity of the gateway in records. */
export interface GatewayOptions {
  /** Index of the worker. */
  readonly worker: number
  /** Name of the machine or pod. */
  readonly node: string
  /** Name of the environment, to distinguish several gateways. Null or absent omits it. */
  readonly environment?: string | null
  /** Version of the gateway. */
  readonly version: string
  /** Returns the digest of the active configuration. Called once per record. */
  readonly configDigest: () => string
}

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
      this.#text = `${this.#head}${jsonText(digest.slice(0, DIGEST_DIGITS))}"}`
    }
    return this.#text
  }
}
