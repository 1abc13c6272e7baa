import {
  type CompileEnv,
  type Eventual,
  type Exchange,
  hasContentCoding,
  type Outcome,
  type Reply,
  refusal,
} from '@sluice/core'
import { OneTimeUse, replayUnavailable } from '@sluice/policies/crypto/replay/one-time-use'
import { ReplayCache } from '@sluice/policies/crypto/replay/replay-cache'
import { replaceBody } from '@sluice/policies/shared/message/side'
import { announcedVersion, announceUtf8 } from './content-type.js'
import { faultReplies } from './fault.js'
import { identified } from './identity.js'
import { MessageSecurer, OVERLOADED } from './message-securer.js'
import type { DirectionConfig, Secured } from './securing.js'

/** Maximum number of remembered values. A single process cannot answer more messages while they are fresh. */
const MAX_VALUES = 200_000

/** Secures requests from clients. */
export class RequestSecurity {
  readonly #securer: MessageSecurer
  readonly #replays: OneTimeUse
  readonly #unavailable: Reply
  readonly #faults = faultReplies()
  readonly #mediaType: Reply
  readonly #coded: Reply

  /** @throws Error for problems that the schema cannot find */
  constructor(config: DirectionConfig, env: CompileEnv) {
    this.#securer = new MessageSecurer(config, env)
    const seen = env.shared('ws-security/replays', () => new ReplayCache(MAX_VALUES, 0))
    seen.widen(this.#securer.rememberMs)
    const sharing = config.check?.replay ?? {}
    this.#replays = new OneTimeUse(env, { space: 'ws-security', seen, sharing })
    this.#unavailable = replayUnavailable(env)
    this.#mediaType = env.refusal(
      'GW_MEDIA_TYPE',
      'send a SOAP message without attachments, as text/xml or application/soap+xml',
    )
    this.#coded = env.refusal('GW_MEDIA_TYPE', 'send the message without a content coding')
  }

  /** Checks the head before the body is read. */
  admit(x: Exchange): Outcome {
    if (announcedVersion(x.headers) === null) return this.#mediaType
    return hasContentCoding(x.headers) ? this.#coded : null
  }

  secure(x: Exchange, body: Uint8Array): Eventual {
    return this.#securer.secure(x, body, (secured) => this.#decide(x, secured))
  }

  #decide(x: Exchange, secured: Secured): Eventual {
    if (secured.kind === 'fault') return this.#fault(x, secured)
    if (secured.kind === 'unreadable')
      return secured.code === 'GW_OVERLOADED' ? OVERLOADED : refusal(secured.code, secured.message)
    if (secured.once.length === 0) return this.#accept(x, secured)
    return this.#remember(x, secured.once).then((refused) => refused ?? this.#accept(x, secured))
  }

  #accept(x: Exchange, secured: Secured & { kind: 'passed' }): Outcome {
    if (secured.identity !== null) x.identify(identified(secured.identity))
    if (secured.body !== null) {
      replaceBody(x, 'request', secured.body)
      announceUtf8(x.headers)
    }
    return null
  }

  #fault(x: Exchange, { code, version }: Secured & { kind: 'fault' }): Reply {
    return this.#faults[code][version ?? announcedVersion(x.headers) ?? '1.1']
  }

  async #remember(x: Exchange, once: readonly string[]): Promise<Outcome> {
    const nowMs = Date.now()
    for (const value of once) {
      const sighting = await this.#replays.use(value, nowMs)
      if (sighting === 'full') return OVERLOADED
      if (sighting === 'unavailable') return this.#unavailable
      if (sighting === 'replayed') {
        return this.#fault(x, {
          kind: 'fault',
          code: 'FailedAuthentication',
          version: null,
          reason: 'replayed',
        })
      }
    }
    return null
  }
}
