import {
  type CompileEnv,
  type Eventual,
  OFFLOAD_BYTES,
  type Offload,
  type Outcome,
  UnreadableBody,
} from '@sluice/core'
import { onOverload, overloadRefusal } from '../overload.js'
import type { XmlView } from '../xml/view.js'
import { type DirectionConfig, type Secured, Securing } from './securing.js'
import type { SecuringInput } from './securing-work.js'

/** The refusal of a message that cannot be checked now. */
export const OVERLOADED = overloadRefusal('too many messages are being checked; try again')
const overloaded = onOverload(OVERLOADED)

/** Secures messages here, or on a thread when they are large. */
export class MessageDesk {
  readonly #securing: Securing
  readonly #thread: Offload<SecuringInput, Secured>

  /** @throws Error for a configuration that the schema cannot refuse */
  constructor(config: DirectionConfig, env: CompileEnv) {
    this.#securing = new Securing(config)
    this.#thread = env.offload(new URL('./securing-work.js', import.meta.url), config)
  }

  /** How long what must not come twice has to be remembered, in ms. */
  get rememberMs(): number {
    return this.#securing.rememberMs
  }

  /**
   * Hands what became of the message to `next`; a promise only for large ones.
   * @param shared the document of the body that others read too; asked for only where it will do.
   */
  secure(body: Uint8Array, shared: () => XmlView, next: (secured: Secured) => Outcome): Eventual {
    const nowMs = Date.now()
    if (body.length < OFFLOAD_BYTES) return next(this.#secureHere(body, shared, nowMs))
    return this.#thread.run({ body, nowMs }).then(next, overloaded)
  }

  #secureHere(body: Uint8Array, shared: () => XmlView, nowMs: number): Secured {
    try {
      return this.#securing.secure(body, this.#securing.isReadOnly ? shared() : null, nowMs)
    } catch (problem) {
      if (!(problem instanceof UnreadableBody)) throw problem
      return { kind: 'unreadable', code: problem.code, message: problem.message }
    }
  }
}
