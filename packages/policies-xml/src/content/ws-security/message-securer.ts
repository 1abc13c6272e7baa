import {
  type CompileEnv,
  type Eventual,
  type Exchange,
  OFFLOAD_BYTES,
  type Offload,
  UnreadableBody,
} from '@sluice/core'
import { type SignatureChecks, signatureChecks } from '@sluice/policies/crypto/keys/signature-checks'
import { onOverload, overloadRefusal } from '@sluice/policies/shared/outcome/overload'
import { xmlOf } from '../../engines/xml/xml-of.js'
import { type DirectionConfig, type Secured, Securing } from './securing.js'
import type { SecuringInput } from './securing-work.js'

/** Refusal under overload. */
export const OVERLOADED = overloadRefusal('too many messages are being checked: try again later')
const overloaded = onOverload(OVERLOADED)

/** Secures messages on the event loop, or on a thread if they are large or the event loop is busy. */
export class MessageSecurer {
  readonly #securing: Securing
  readonly #checks: SignatureChecks
  readonly #thread: Offload<SecuringInput, Secured>

  /** @throws Error for problems that the schema cannot find */
  constructor(config: DirectionConfig, env: CompileEnv) {
    this.#securing = new Securing(config)
    this.#checks = signatureChecks(env)
    this.#thread = env.offload(new URL('./securing-work.js', import.meta.url), config)
  }

  /** Time that used values must be remembered, in milliseconds. */
  get rememberMs(): number {
    return this.#securing.rememberMs
  }

  /** Secures a message and passes the result to `next`. Returns a promise only if a thread is used. */
  secure(x: Exchange, body: Uint8Array, next: (secured: Secured) => Eventual): Eventual {
    const nowMs = Date.now()
    if (body.length < OFFLOAD_BYTES && this.#checks.hasTime())
      return next(this.#checks.spend(() => this.#secureHere(x, body, nowMs)))
    return this.#thread.run({ body, nowMs }, x).then(next, overloaded)
  }

  #secureHere(x: Exchange, body: Uint8Array, nowMs: number): Secured {
    try {
      // The shared document must not be changed.
      return this.#securing.secure(body, this.#securing.isReadOnly ? xmlOf(x, body) : null, nowMs)
    } catch (problem) {
      if (!(problem instanceof UnreadableBody)) throw problem
      return { kind: 'unreadable', code: problem.code, message: problem.message }
    }
  }
}
