import {
  CheckFailure,
  type Eventual,
  type Exchange,
  OFFLOAD_BYTES,
  type Offload,
  type Outcome,
  Overload,
  Overtime,
  type Reply,
  refusal,
  type Step,
} from '@sluice/core'
import { failClosed, hooksOn } from '../../shared/message/hooks.js'
import { announcesCoding, headersOf, isChecked, limitBody, type Side } from '../../shared/message/side.js'
import { tooLarge } from '../json/refusals.js'
import { refused, reported, unchecked, unmark } from './report.js'

/**
 * Result of a validation: a refusal, `overloaded`, `undecided` if the validation did not finish, or null if the body
 * is valid.
 */
export type ValidationResult = Reply | 'overloaded' | 'undecided' | null

/** A body validator and its options. Verdicts may also be computed on a worker thread. */
export interface BodyValidation<V> {
  /** Name of the policy. */
  readonly name: string
  readonly phase: Side | 'both'
  readonly maxBodyBytes: number
  /** True if invalid messages are marked instead of refused. */
  readonly isReport: boolean
  /** True if short bodies also go to a worker thread. */
  readonly isSlow: boolean
  readonly offload: Offload<Uint8Array, V>
  /** Returns why a body with these headers cannot be validated, or null. */
  issue(headers: readonly string[]): string | null
  verdict(x: Exchange, body: Uint8Array): V
  validate(x: Exchange, side: Side, verdict: V): ValidationResult
}

/** Creates a policy step that validates message bodies. */
export function validationStep<V>(validation: BodyValidation<V>): Step {
  const gate = new BodyGate(validation)
  const { name, phase, isReport } = validation
  const hooks = hooksOn(phase, (side) => {
    const examine = (x: Exchange, body: Uint8Array): Eventual => gate.examine(x, body, side)
    return { head: (x) => gate.begin(x, side), body: isReport ? examine : failClosed(name, examine) }
  })
  return { name, ...hooks }
}

class BodyGate<V> {
  readonly #validation: BodyValidation<V>
  readonly #tooLarge: Reply

  constructor(validation: BodyValidation<V>) {
    this.#validation = validation
    this.#tooLarge = tooLarge(validation.maxBodyBytes)
  }

  /** Runs before the body is collected. In report mode the size limit does not apply. */
  begin(x: Exchange, side: Side): Outcome {
    const { isReport, maxBodyBytes } = this.#validation
    unmark(x, side)
    if (isReport || !isChecked(x, side)) return null
    limitBody(x, side, maxBodyBytes)
    const issue = announcesCoding(x, side) ? this.#validation.issue(headersOf(x, side)) : null
    return issue === null ? null : this.#refuse(x, side, refusal('GW_MEDIA_TYPE', issue))
  }

  examine(x: Exchange, body: Uint8Array, side: Side): Eventual {
    const { offload, maxBodyBytes, isSlow, isReport } = this.#validation
    if (!isChecked(x, side)) return null
    const issue = this.#validation.issue(headersOf(x, side))
    if (issue !== null) return this.#refuse(x, side, refusal('GW_MEDIA_TYPE', issue))
    if (body.length > maxBodyBytes) return this.#refuse(x, side, this.#tooLarge)
    if (body.length < OFFLOAD_BYTES && !isSlow)
      return this.#settle(x, side, this.#validation.verdict(x, body))
    return offload.run(body, x).then(
      (verdict) => this.#settle(x, side, verdict),
      (error: unknown) => {
        if (error instanceof Overload) return unchecked(x, side, isReport)
        if (error instanceof Overtime) return this.#undecided(x, side)
        throw error
      },
    )
  }

  #settle(x: Exchange, side: Side, verdict: V): Outcome {
    const result = this.#validation.validate(x, side, verdict)
    if (result === null) return null
    if (result === 'overloaded') return unchecked(x, side, this.#validation.isReport)
    if (result === 'undecided') return this.#undecided(x, side)
    return this.#refuse(x, side, result)
  }

  /** Fails with a server error: neither side is to blame if the schema takes too long. The log tells the operator. */
  #undecided(x: Exchange, side: Side): Outcome {
    const { isReport, name } = this.#validation
    if (isReport) return unchecked(x, side, isReport)
    const what = `${name}: validating this body against the schema takes too long; simplify the patterns in the schema`
    throw new CheckFailure('GW_POLICY_ERROR', 'the body could not be validated in time', what)
  }

  #refuse(x: Exchange, side: Side, reply: Reply): Outcome {
    return this.#validation.isReport ? reported(x, side, reply) : refused(x, side, reply)
  }
}
