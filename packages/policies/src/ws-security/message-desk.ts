import {
  type CompileEnv,
  type Eventual,
  OFFLOAD_BYTES,
  type Offload,
  type Outcome,
  Overload,
  type Reply,
  UnreadableBody,
} from '@sluice/core'
import type { XmlView } from '../xml/view.js'
import { type DirectionConfig, type Secured, Securing } from './securing.js'
import type { SecuringInput } from './securing-work.js'

/** Secures messages here, or on a thread when they are large. */
export class MessageDesk {
  readonly #securing: Securing
  readonly #thread: Offload<SecuringInput, Secured>
  readonly overloaded: Reply

  /** @throws Error for a configuration that the schema cannot refuse */
  constructor(config: DirectionConfig, env: CompileEnv) {
    this.#securing = new Securing(config)
    this.#thread = env.offload(new URL('./securing-work.js', import.meta.url), config)
    this.overloaded = env.refusal('GW_OVERLOADED', 'too many messages are being checked; try again', [
      'retry-after',
      '1',
    ])
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
    return this.#thread.run({ body, nowMs }).then(next, (problem: unknown) => {
      if (problem instanceof Overload) return this.overloaded
      throw problem
    })
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
