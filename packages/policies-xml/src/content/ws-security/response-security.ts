import {
  type CompileEnv,
  type Eventual,
  type Exchange,
  hasContentCoding,
  type Outcome,
  type Reply,
} from '@sluice/core'
import { replaceBody } from '@sluice/policies/shared/message/side'
import { announcedVersion, announceUtf8 } from './content-type.js'
import { MessageSecurer, OVERLOADED } from './message-securer.js'
import type { DirectionConfig, Secured } from './securing.js'

/** Secures responses from the upstream. Clients learn only that a response is invalid, not why. */
export class ResponseSecurity {
  readonly #securer: MessageSecurer
  readonly #invalid: Reply
  readonly #unreadable: Reply

  /** @throws Error for problems that the schema cannot find */
  constructor(config: DirectionConfig, env: CompileEnv) {
    this.#securer = new MessageSecurer(config, env)
    this.#invalid = env.refusal('GW_RESPONSE_INVALID', 'the upstream response is not correctly secured')
    this.#unreadable = env.refusal('GW_RESPONSE_INVALID', 'the upstream response is not a SOAP message')
  }

  /** Checks the head before the body is read. */
  admit(x: Exchange): Outcome {
    return hasContentCoding(x.responseHeaders) ? this.#unreadable : null
  }

  /** Secures a response. One-way calls have an empty response. */
  secure(x: Exchange, body: Uint8Array): Eventual {
    if (body.length === 0) return null
    if (announcedVersion(x.responseHeaders) === null) return this.#unreadable
    return this.#securer.secure(x, body, (secured) => this.#decide(x, secured))
  }

  #decide(x: Exchange, secured: Secured): Outcome {
    if (secured.kind === 'fault') return this.#invalid
    if (secured.kind === 'unreadable') return secured.code === 'GW_OVERLOADED' ? OVERLOADED : this.#unreadable
    if (secured.body === null) return null
    replaceBody(x, 'response', secured.body)
    announceUtf8(x.responseHeaders)
    return null
  }
}
