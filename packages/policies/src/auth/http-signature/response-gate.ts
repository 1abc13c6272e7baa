import type { CompileEnv, Eventual, Exchange, Outcome, Reply, Slot } from '@sluice/core'
import { wallClockNow } from '../../crypto/replay/time-window.js'
import { linesOf, sentRequest } from '../../shared/message/request-facts.js'
import { isBodiless } from '../../shared/message/side.js'
import { whenSettled } from '../../shared/outcome/when-settled.js'
import { matchesDigest } from './content-digest.js'
import { compileRequirements, type Owner } from './requirements.js'
import type { VerificationConfig } from './schema.js'
import { type Requirements, validate } from './validate.js'

/** Verifies responses of the upstream. The client learns only that the response was not valid. */
export class ResponseGate {
  readonly #requirements: Requirements<Owner>
  /** Expected `content-digest` of the body. */
  readonly #digest: Slot<string>
  readonly #refusal: Reply
  readonly readsBody: boolean

  constructor(config: VerificationConfig, env: CompileEnv) {
    this.#requirements = compileRequirements('response', config, false)
    this.#digest = env.slot()
    this.#refusal = env.refusal(
      'GW_RESPONSE_INVALID',
      'the response of the upstream does not have a valid signature',
    )
    this.readsBody = config.contentDigest !== 'off'
  }

  admit(x: Exchange): Outcome {
    const headers = x.responseHeaders
    const verdict = validate(this.#requirements, {
      message: {
        request: sentRequest(x),
        response: { status: x.status, lines: (name) => linesOf(headers, name) },
      },
      inputs: linesOf(headers, 'signature-input'),
      signatures: linesOf(headers, 'signature'),
      hasBody: !isBodiless(x),
      nowMs: wallClockNow(x),
    })
    if (!verdict.isValid) return this.#refusal
    if (verdict.coversDigest) this.#digest.set(x, linesOf(headers, 'content-digest').join(', '))
    return null
  }

  complete(x: Exchange, body: Uint8Array): Eventual {
    const digest = this.#digest.get(x)
    if (digest === undefined || isBodiless(x)) return null
    return whenSettled(matchesDigest(digest, body), (isRight) => (isRight ? null : this.#refusal))
  }
}
