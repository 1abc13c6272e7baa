import {
  type Eventual,
  type Exchange,
  OFFLOAD_BYTES,
  type Offload,
  type Outcome,
  Overload,
  type Reply,
  refusal,
  UnreadableBody,
} from '@sluice/core'
import { codingFlaw } from '../json/coding.js'
import { BODY_REFUSALS, tooLarge } from '../json/refusals.js'
import { replaceBody } from '../json/replace-body.js'
import { type JsonReading, jsonOf } from '../json/view.js'
import { isCheckedResponse, mark, note, type Side, unmark } from '../validation/report.js'
import { violationsText } from '../validation/violations.js'
import type { SchemaCheck } from './check.js'
import type { OffloadedVerdict } from './json-schema-work.js'

interface GateSettings {
  readonly check: SchemaCheck
  readonly reading: JsonReading
  readonly offload: Offload<Uint8Array, OffloadedVerdict>
  readonly maxBodyBytes: number
  readonly status: 400 | 422
  readonly isReport: boolean
}

/** Lets messages through whose bodies the schemas accept. */
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

  /** Checks the request. */
  request(x: Exchange, body: Uint8Array): Eventual {
    return this.#examine(x, body, 'request')
  }

  /** Checks the response, if it has a body that a schema could describe. */
  response(x: Exchange, body: Uint8Array): Eventual {
    return isCheckedResponse(x) ? this.#examine(x, body, 'response') : null
  }

  #examine(x: Exchange, body: Uint8Array, side: Side): Eventual {
    const { offload, maxBodyBytes } = this.#settings
    const flaw = codingFlaw(side === 'request' ? x.headers : x.responseHeaders)
    if (flaw !== null) return this.#refuse(x, side, refusal('GW_MEDIA_TYPE', `the body ${flaw}`))
    if (body.length > maxBodyBytes) return this.#refuse(x, side, this.#tooLarge)
    if (body.length < OFFLOAD_BYTES) return this.#judge(x, side, this.#verdict(x, body))
    return offload.run(body).then(
      (verdict) => this.#judge(x, side, verdict),
      (error: unknown) => this.#overloaded(x, side, error),
    )
  }

  #verdict(x: Exchange, body: Uint8Array): OffloadedVerdict {
    try {
      return this.#settings.check.check(jsonOf(x, body, this.#settings.reading))
    } catch (error) {
      if (error instanceof UnreadableBody) return { unreadable: error.message }
      throw error
    }
  }

  #judge(x: Exchange, side: Side, verdict: OffloadedVerdict): Outcome {
    if ('unreadable' in verdict) {
      return this.#refuse(x, side, refusal('GW_BODY_UNPARSABLE', verdict.unreadable))
    }
    if (verdict.violations.length > 0) {
      const reply = refusal('GW_SCHEMA_INVALID', violationsText(verdict.violations))
      return this.#refuse(x, side, { ...reply, status: this.#settings.status })
    }
    if (verdict.changed !== null) replaceBody(x, side, { body: Buffer.from(verdict.changed) })
    return null
  }

  #refuse(x: Exchange, side: Side, reply: Reply): Outcome {
    if (this.#settings.isReport || side === 'response') note(x, reply.problem?.detail ?? '')
    if (this.#settings.isReport) {
      mark(x, side, 'failed')
      return null
    }
    return side === 'request' ? reply : BODY_REFUSALS.responseInvalid
  }

  #overloaded(x: Exchange, side: Side, error: unknown): Outcome {
    if (!(error instanceof Overload)) throw error
    if (!this.#settings.isReport) return BODY_REFUSALS.overloaded
    mark(x, side, 'skipped')
    return null
  }
}
