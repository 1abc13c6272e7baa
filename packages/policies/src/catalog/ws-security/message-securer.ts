import {
  type CompileEnv,
  type Eventual,
  type Exchange,
  OFFLOAD_BYTES,
  type Offload,
  UnreadableBody,
} from '@sluice/core'
import { type SignatureChecks, signatureChecks } from '../../crypto/keys/signature-checks.js'
import { xmlOf } from '../../engines/xml/xml-of.js'
import { onOverload, overloadRefusal } from '../../shared/overload.js'
import { type DirectionConfig, type Secured, Securing } from './securing.js'
import type { SecuringInput } from './securing-work.js'

/** The refusal of a message that cannot be checked now. */
export const OVERLOADED = overloadRefusal('too many messages are being checked; try again')
const overloaded = onOverload(OVERLOADED)

/** Secures messages here, or on a thread when they are large or the event loop has no time. */
export class MessageSecurer {
  readonly #securing: Securing
  readonly #checks: SignatureChecks
  readonly #thread: Offload<SecuringInput, Secured>

  /** @throws Error for a configuration that the schema cannot refuse */
  constructor(config: DirectionConfig, env: CompileEnv) {
    this.#securing = new Securing(config)
    this.#checks = signatureChecks(env)
    this.#thread = env.offload(new URL('./securing-work.js', import.meta.url), config)
  }

  /** How long what must not come twice has to be remembered, in ms. */
  get rememberMs(): number {
    return this.#securing.rememberMs
  }

  /** Hands what became of the message to `next`; a promise only for those on a thread. */
  secure(x: Exchange, body: Uint8Array, next: (secured: Secured) => Eventual): Eventual {
    const nowMs = Date.now()
    if (body.length < OFFLOAD_BYTES && this.#checks.hasTime())
      return next(this.#checks.spend(() => this.#secureHere(x, body, nowMs)))
    return this.#thread.run({ body, nowMs }, x).then(next, overloaded)
  }

  #secureHere(x: Exchange, body: Uint8Array, nowMs: number): Secured {
    try {
      // Others read the same document, and must not see it changed.
      return this.#securing.secure(body, this.#securing.isReadOnly ? xmlOf(x, body) : null, nowMs)
    } catch (problem) {
      if (!(problem instanceof UnreadableBody)) throw problem
      return { kind: 'unreadable', code: problem.code, message: problem.message }
    }
  }
}
