import {
  type Eventual,
  type Exchange,
  OFFLOAD_BYTES,
  type Offload,
  type Outcome,
  Overload,
  type Reply,
  refusal,
} from '@sluice/core'
import { BODY_REFUSALS, tooLarge } from '../json/refusals.js'
import { isCheckedResponse, mark, note, type Side, unmark } from '../validation/report.js'
import type { MediaTypeCheck } from '../xml/media-type.js'
import { xmlOf } from '../xml/xml-of.js'
import type { Validator, Verdict } from './validator.js'

interface GateSettings {
  readonly validator: Validator
  readonly maxDepth: number
  readonly offload: Offload<Uint8Array, Verdict>
  readonly mediaType: MediaTypeCheck
  readonly maxBodyBytes: number
  readonly isReport: boolean
}

/** Lets messages through whose bodies are valid. */
export class Gate {
  readonly #settings: GateSettings
  readonly #tooLarge: Reply

  constructor(settings: GateSettings) {
    this.#settings = settings
    this.#tooLarge = tooLarge(settings.maxBodyBytes)
  }

  /** Before the body is collected. */
  beginRequest(x: Exchange): Outcome {
    const { isReport, maxBodyBytes } = this.#settings
    unmark(x, 'request')
    if (!isReport && maxBodyBytes < x.bodyLimit) x.bodyLimit = maxBodyBytes
    return null
  }

  /** Before the body is collected. */
  beginResponse(x: Exchange): Outcome {
    const { isReport, maxBodyBytes } = this.#settings
    unmark(x, 'response')
    if (!isReport && isCheckedResponse(x) && maxBodyBytes < x.responseBodyLimit) {
      x.responseBodyLimit = maxBodyBytes
    }
    return null
  }

  request(x: Exchange, body: Uint8Array): Eventual {
    return this.#examine(x, body, 'request')
  }

  response(x: Exchange, body: Uint8Array): Eventual {
    return isCheckedResponse(x) ? this.#examine(x, body, 'response') : null
  }

  #examine(x: Exchange, body: Uint8Array, side: Side): Eventual {
    const { validator, offload, mediaType, maxBodyBytes, maxDepth } = this.#settings
    if (body.length > maxBodyBytes) return this.#refuse(x, side, this.#tooLarge)
    const flaw = mediaType(side === 'request' ? x.headers : x.responseHeaders)
    if (flaw !== null) return this.#refuse(x, side, refusal('GW_MEDIA_TYPE', flaw))
    if (body.length < OFFLOAD_BYTES && !validator.isSlow) {
      return this.#judge(
        x,
        side,
        validator.validate(() => xmlOf(x, body, maxDepth)),
      )
    }
    return offload.run(body).then(
      (verdict) => this.#judge(x, side, verdict),
      (problem: unknown) => {
        if (problem instanceof Overload) return this.#overloaded(x, side)
        throw problem
      },
    )
  }

  #judge(x: Exchange, side: Side, verdict: Verdict): Outcome {
    if (verdict.kind === 'valid') return null
    if (verdict.kind === 'invalid')
      return this.#refuse(x, side, refusal('GW_SCHEMA_INVALID', verdict.mistakes))
    if (verdict.code === 'GW_OVERLOADED') return this.#overloaded(x, side)
    return this.#refuse(x, side, refusal(verdict.code, verdict.mistakes))
  }

  /** The client cannot mend what the upstream says, nor has it to know. */
  #refuse(x: Exchange, side: Side, reply: Reply): Outcome {
    if (this.#settings.isReport || side === 'response') note(x, reply.problem?.detail ?? '')
    if (this.#settings.isReport) {
      mark(x, side, 'failed')
      return null
    }
    return side === 'request' ? reply : BODY_REFUSALS.responseInvalid
  }

  #overloaded(x: Exchange, side: Side): Outcome {
    if (!this.#settings.isReport) return BODY_REFUSALS.overloaded
    mark(x, side, 'skipped')
    return null
  }
}
