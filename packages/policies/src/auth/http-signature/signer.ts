import { randomBytes } from 'node:crypto'
import { type HeaderList, parseDuration, setHeader } from '@sluice/core'
import type { Signer as SignBytes } from '../../crypto/keys/signature.js'
import { whenSettled } from '../../shared/outcome/when-settled.js'
import { serializeInnerList } from '../../shared/structured-field/serializer.js'
import type { BareItem, InnerList } from '../../shared/structured-field/structured-field.js'
import { compileSigner } from './algorithm.js'
import { fieldShapes, type SignedMessage } from './component.js'
import { compileComponents, type ListedComponent } from './component-list.js'
import { contentDigest, type DigestAlgorithm } from './content-digest.js'
import { DEFAULT_LABEL, type SigningConfig } from './schema.js'
import { signatureBase } from './signature-base.js'

const DEFAULT_COMPONENTS = {
  request: ['@method', '@target-uri', 'content-digest'],
  response: ['@status', 'content-digest'],
} as const

/** A message to sign. */
export interface Unsigned {
  readonly message: SignedMessage
  /** Header list to which the signature is added. */
  readonly headers: HeaderList
  /** Body, or null if it was not buffered. */
  readonly body: Uint8Array | null
  readonly nowMs: number
}

/** Signs messages with one key. */
export class MessageSigner {
  readonly #sign: SignBytes
  readonly #label: string
  readonly #components: readonly ListedComponent[]
  readonly #digest: DigestAlgorithm
  readonly #config: SigningConfig
  readonly #expiresSeconds: number | null
  /** True if the signature covers the digest of the body. */
  readonly readsBody: boolean

  /** @throws Error if the key or a component is invalid. */
  constructor(kind: 'request' | 'response', config: SigningConfig) {
    this.#config = config
    this.#sign = compileSigner(config.key)
    this.#label = config.label ?? DEFAULT_LABEL
    this.#digest = config.digest ?? 'sha-256'
    this.#expiresSeconds =
      config.expiresIn === undefined ? null : Math.max(1, Math.round(parseDuration(config.expiresIn) / 1000))
    const texts = config.components ?? DEFAULT_COMPONENTS[kind]
    this.#components = compileComponents(texts, kind, fieldShapes({}))
    this.readsBody = this.#components.some(({ component }) => component.key === '"content-digest"')
  }

  /** Adds the signature. Returns a promise if the key is slow or the body is large. */
  sign(unsigned: Unsigned): null | Promise<null> {
    const { headers, body } = unsigned
    if (!this.readsBody || body === null || body.length === 0) return this.#signHead(unsigned)
    return whenSettled(contentDigest(body, this.#digest), (digest) => {
      setHeader(headers, 'content-digest', digest)
      return this.#signHead(unsigned)
    })
  }

  #signHead({ headers, message, nowMs }: Unsigned): null | Promise<null> {
    const present = this.#components.filter(({ component }) => component.read(message) !== null)
    const input = { items: present.map(({ item }) => item), parameters: this.#parameters(nowMs) }
    const base = signatureBase(
      present.map(({ component }) => component),
      input,
      message,
    )
    const text = 'text' in base ? base.text : ''
    return whenSettled(this.#sign(Buffer.from(text, 'latin1')), (bytes) => this.#put(headers, input, bytes))
  }

  #put(headers: HeaderList, input: InnerList, signature: Buffer): null {
    setHeader(headers, 'signature-input', `${this.#label}=${serializeInnerList(input)}`)
    setHeader(headers, 'signature', `${this.#label}=:${signature.toString('base64')}:`)
    return null
  }

  #parameters(nowMs: number): Map<string, BareItem> {
    const { key, includeAlg, nonce, tag } = this.#config
    const created = Math.floor(nowMs / 1000)
    const parameters = new Map<string, BareItem>([['created', { type: 'integer', value: created }]])
    if (this.#expiresSeconds !== null)
      parameters.set('expires', { type: 'integer', value: created + this.#expiresSeconds })
    if (nonce === true)
      parameters.set('nonce', { type: 'string', value: randomBytes(16).toString('base64url') })
    if (includeAlg !== false) parameters.set('alg', { type: 'string', value: key.algorithm })
    parameters.set('keyid', { type: 'string', value: key.id })
    if (tag !== undefined) parameters.set('tag', { type: 'string', value: tag })
    return parameters
  }
}
