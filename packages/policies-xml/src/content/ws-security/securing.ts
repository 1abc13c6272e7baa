import { type ErrorCode, UnreadableBody } from '@sluice/core'
import { XmlError } from 'libxml2-wasm'
import type { XmlView } from '../../engines/xml/view.js'
import type { AddConfig } from './add-schema.js'
import { addSecurity } from './addition.js'
import { type AdditionRules, additionRules } from './addition-rules.js'
import { type Checked, checkMessage } from './check.js'
import { type CheckRules, checkRules } from './check-rules.js'
import type { CheckConfig } from './check-schema.js'
import { soapVersionOf } from './envelope.js'
import { type FaultCode, SecurityFault, type SoapVersion } from './fault.js'
import { Message } from './message.js'

/** Configuration for requests or responses. Can be cloned for a thread. */
export interface DirectionConfig {
  readonly check?: CheckConfig
  readonly add?: AddConfig
}

/** Result of securing a message. Can be cloned. */
export type Secured =
  | ({ readonly kind: 'passed' /** Null if unchanged. */; readonly body: Uint8Array | null } & Checked)
  | {
      readonly kind: 'fault'
      readonly code: FaultCode
      readonly version: SoapVersion | null
      readonly reason: string
    }
  | { readonly kind: 'unreadable'; readonly code: ErrorCode; readonly message: string }

const UNCHECKED: Checked = { identity: null, once: [] }

/** Runs the check and the additions for requests or responses. */
export class Securing {
  readonly #check: CheckRules | null
  readonly #addition: AdditionRules | null

  /** @throws Error for problems that the schema cannot find */
  constructor({ check, add }: DirectionConfig) {
    this.#check = check === undefined ? null : checkRules(check)
    this.#addition = add === undefined ? null : additionRules(add)
    if (
      this.#check !== null &&
      this.#addition?.actor === this.#check.actor &&
      !this.#check.strip.has('header')
    ) {
      throw new Error(
        "'check' keeps its Security header and 'add' creates another one: strip the header or set an actor under 'add'",
      )
    }
  }

  /** True if the document is not changed, so that a shared one can be used. */
  get isReadOnly(): boolean {
    return this.#addition === null && this.#check?.strip.size === 0 && this.#check.decryption === null
  }

  /** Time that used values must be remembered, in milliseconds. */
  get rememberMs(): number {
    return this.#check === null ? 0 : this.#check.timestamp.ttlMs + 2 * this.#check.timestamp.skewMs
  }

  /** Secures a message. @param shared parsed body shared with other policies, or null to parse it here. */
  secure(body: Uint8Array, shared: XmlView | null, nowMs: number): Secured {
    let message: Message | null = null
    try {
      message = shared !== null && this.isReadOnly ? Message.shared(shared) : Message.parsed(body)
      return this.#run(message, nowMs)
    } catch (problem) {
      return failureOf(problem, message)
    } finally {
      message?.close()
    }
  }

  #run(message: Message, nowMs: number): Secured {
    const checked = this.#check === null ? UNCHECKED : checkMessage(message, this.#check, nowMs)
    if (this.#addition === null) return { kind: 'passed', body: message.written(), ...checked }
    return { kind: 'passed', body: addSecurity(message, this.#addition, nowMs), ...checked }
  }
}

/** Converts an error to a result. @throws the error if it is unexpected */
function failureOf(problem: unknown, message: Message | null): Secured {
  if (problem instanceof UnreadableBody)
    return { kind: 'unreadable', code: problem.code, message: problem.message }
  const version = message === null ? null : soapVersionOf(message.document)
  if (problem instanceof SecurityFault)
    return { kind: 'fault', code: problem.code, version, reason: problem.message }
  if (problem instanceof XmlError)
    return { kind: 'fault', code: 'InvalidSecurity', version, reason: problem.message }
  throw problem
}
