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
import { announcesCoding, boundBody, headersOf, type Side } from '../../shared/message/side.js'
import { tooLarge } from '../json/refusals.js'
import { isChecked, refused, reported, unchecked, unmark } from './report.js'

/** What a validator says of a body: a refusal, that it could not look or came to no end, or null for no objection. */
export type ValidationResult = Reply | 'overloaded' | 'undecided' | null

/** A way to validate bodies; verdicts come from a thread as well. */
export interface BodyValidation<V> {
  /** The policy. */
  readonly name: string
  readonly phase: Side | 'both'
  readonly maxBodyBytes: number
  /** Marks what is not valid instead of refusing it. */
  readonly isReport: boolean
  /** Also short bodies go to a thread. */
  readonly isSlow: boolean
  readonly offload: Offload<Uint8Array, V>
  /** Why a body after these fields is not looked at; null: nothing speaks against it. */
  flaw(headers: readonly string[]): string | null
  verdict(x: Exchange, body: Uint8Array): V
  validate(x: Exchange, side: Side, verdict: V): ValidationResult
}

/** Hooks that let messages through whose bodies are valid. */
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

  /** Before the body is collected. What is only reported is not kept from passing by its size. */
  begin(x: Exchange, side: Side): Outcome {
    const { isReport, maxBodyBytes } = this.#validation
    unmark(x, side)
    if (isReport || !isChecked(x, side)) return null
    boundBody(x, side, maxBodyBytes)
    const flaw = announcesCoding(x, side) ? this.#validation.flaw(headersOf(x, side)) : null
    return flaw === null ? null : this.#refuse(x, side, refusal('GW_MEDIA_TYPE', flaw))
  }

  examine(x: Exchange, body: Uint8Array, side: Side): Eventual {
    const { offload, maxBodyBytes, isSlow, isReport } = this.#validation
    if (!isChecked(x, side)) return null
    const flaw = this.#validation.flaw(headersOf(x, side))
    if (flaw !== null) return this.#refuse(x, side, refusal('GW_MEDIA_TYPE', flaw))
    if (body.length > maxBodyBytes) return this.#refuse(x, side, this.#tooLarge)
    if (body.length < OFFLOAD_BYTES && !isSlow) {
      return this.#settle(x, side, this.#validation.verdict(x, body))
    }
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

  /** Neither side is to blame for a schema that takes too long: the operator hears of it. */
  #undecided(x: Exchange, side: Side): Outcome {
    const { isReport, name } = this.#validation
    if (isReport) return unchecked(x, side, isReport)
    const what = `${name}: the schema takes too long to validate this body; write its patterns with fewer ways to match`
    throw new CheckFailure('GW_POLICY_ERROR', 'the body could not be validated in time', what)
  }

  #refuse(x: Exchange, side: Side, reply: Reply): Outcome {
    return this.#validation.isReport ? reported(x, side, reply) : refused(x, side, reply)
  }
}
