import {
  type CompileEnv,
  type Eventual,
  type Exchange,
  hasContentCoding,
  type Outcome,
  type Reply,
} from '@sluice/core'
import { replaceBody } from '../../shared/message/side.js'
import { announcedVersion, announceUtf8 } from './content-type.js'
import { MessageSecurer, OVERLOADED } from './message-securer.js'
import type { DirectionConfig, Secured } from './securing.js'

/** What the upstream sends. What is wrong with it is no fault of the client's, who learns no more than that. */
export class ResponseSecurity {
  readonly #securer: MessageSecurer
  readonly #invalid: Reply
  readonly #unreadable: Reply

  /** @throws Error for a configuration that the schema cannot refuse */
  constructor(config: DirectionConfig, env: CompileEnv) {
    this.#securer = new MessageSecurer(config, env)
    this.#invalid = env.refusal(
      'GW_RESPONSE_INVALID',
      'the response of the upstream is not secured as it has to be',
    )
    this.#unreadable = env.refusal('GW_RESPONSE_INVALID', 'the response of the upstream is no SOAP message')
  }

  /** Before the body is read. */
  admit(x: Exchange): Outcome {
    return hasContentCoding(x.responseHeaders) ? this.#unreadable : null
  }

  /** One-way calls are answered with nothing. */
  secure(x: Exchange, body: Uint8Array): Eventual {
    if (body.length === 0) return null
    if (announcedVersion(x.responseHeaders) === null) return this.#unreadable
    return this.#securer.secure(x, body, (secured) => this.#decide(x, secured))
  }

  #decide(x: Exchange, secured: Secured): Outcome {
    if (secured.kind === 'fault') return this.#invalid
    if (secured.kind === 'unreadable') {
      return secured.code === 'GW_OVERLOADED' ? OVERLOADED : this.#unreadable
    }
    if (secured.body === null) return null
    replaceBody(x, 'response', secured.body)
    announceUtf8(x.responseHeaders)
    return null
  }
}
