import {
  type CompileEnv,
  type Eventual,
  type Exchange,
  type Reply,
  refusal,
  removeHeader,
  type Slot,
} from '@sluice/core'
import { type SignatureChecks, signatureChecks } from '../../crypto/keys/signature-checks.js'
import { OneTimeUse, replayUnavailable } from '../../crypto/replay/one-time-use.js'
import { ReplayCache } from '../../crypto/replay/replay-cache.js'
import { wallClockNow } from '../../crypto/replay/time-window.js'
import { linesOf, receivedRequest } from '../../shared/message/request-facts.js'
import { overloadRefusal } from '../../shared/outcome/overload.js'
import { whenSettled } from '../../shared/outcome/when-settled.js'
import { matchesDigest } from './content-digest.js'
import { compileRequirements, type Owner } from './requirements.js'
import { DEFAULT_REPLAY_ENTRIES, type RequestVerificationConfig } from './schema.js'
import { type Failure, prepareVerification, type Requirements, type Verdict } from './validate.js'

/** A request whose signature is valid and whose body is awaited. */
interface Pending {
  /** Expected `content-digest` of the body, or null if the signature does not cover it. */
  readonly digest: string | null
  /** Key for replay detection, or null if it is disabled. */
  readonly nonce: string | null
  readonly createdMs: number
}

/** Verifies requests in two steps: the signature with the head, then the signed digest with the body. */
export class RequestGate {
  readonly #requirements: Requirements<Owner>
  readonly #strips: boolean
  readonly #checks: SignatureChecks
  readonly #replays: OneTimeUse | null
  readonly #pending: Slot<Pending>
  readonly #refusals: ReturnType<typeof compileRefusals>
  /** True if the body is buffered. If false, `complete` is never called. */
  readonly readsBody: boolean

  constructor(config: RequestVerificationConfig, env: CompileEnv) {
    this.#requirements = compileRequirements('request', config, config.replay !== undefined)
    this.#checks = signatureChecks(env)
    this.#strips = config.strip ?? false
    this.readsBody = config.contentDigest !== 'off'
    this.#pending = env.slot()
    this.#refusals = compileRefusals(this.#requirements, env)
    this.#replays = config.replay === undefined ? null : this.#oneTimeUse(config.replay, env)
  }

  #oneTimeUse(config: NonNullable<RequestVerificationConfig['replay']>, env: CompileEnv): OneTimeUse {
    const space = 'http-signature'
    const entries = config.maxEntries ?? DEFAULT_REPLAY_ENTRIES
    const ttlMs = this.#requirements.window.lengthMs
    const seen = env.shared(`${space}/${entries}/${ttlMs}`, () => new ReplayCache(entries, ttlMs))
    return new OneTimeUse(env, { space, seen, sharing: config })
  }

  admit(x: Exchange): Eventual {
    return whenSettled(this.#validate(x), (pending) => this.#admit(x, pending))
  }

  #admit(x: Exchange, pending: Pending | Reply): Eventual {
    if ('status' in pending) return pending
    if (this.#strips) {
      removeHeader(x.headers, 'signature')
      removeHeader(x.headers, 'signature-input')
    }
    if (!this.readsBody) return this.#use(x, pending)
    this.#pending.set(x, pending)
    return null
  }

  /**
   * Completes the check with the body. If a condition became true only after the head, the head is checked
   * here.
   */
  complete(x: Exchange, body: Uint8Array): Eventual {
    return whenSettled(this.#pending.get(x) ?? this.#validate(x), (pending) =>
      this.#complete(x, body, pending),
    )
  }

  #complete(x: Exchange, body: Uint8Array, pending: Pending | Reply): Eventual {
    if ('status' in pending) return pending
    const isRight = pending.digest === null || matchesDigest(pending.digest, body)
    return whenSettled(isRight, (right) => (right ? this.#use(x, pending) : this.#refusals.digest))
  }

  #validate(x: Exchange): Pending | Reply | Promise<Pending | Reply> {
    const found = prepareVerification(this.#requirements, {
      message: { request: receivedRequest(x), response: null },
      inputs: linesOf(x.headers, 'signature-input'),
      signatures: linesOf(x.headers, 'signature'),
      hasBody: x.contentLength !== 0,
      nowMs: x.startedAt,
    })
    if ('isValid' in found) return this.#conclude(x, found)
    return whenSettled(this.#checks.run(x, found), (verdict) =>
      verdict === null ? this.#refusals.overloaded : this.#conclude(x, verdict),
    )
  }

  #conclude(x: Exchange, verdict: Verdict<Owner>): Pending | Reply {
    if (!verdict.isValid) {
      if (verdict.reason !== 'component') return this.#refusals[verdict.reason]
      return refusal('GW_SIGNATURE_INVALID', verdict.detail, CHALLENGE)
    }
    if (verdict.owner !== null) x.identify(verdict.owner)
    const { keyid, nonce, created } = verdict.signature
    return {
      digest: verdict.coversDigest ? linesOf(x.headers, 'content-digest').join(', ') : null,
      nonce: this.#replays === null ? null : `${keyid}\n${nonce}`,
      createdMs: created! * 1000,
    }
  }

  #use(x: Exchange, { nonce, createdMs }: Pending): Eventual {
    if (nonce === null) return null
    const nowMs = wallClockNow(x)
    if (!this.#requirements.window.has(createdMs, nowMs)) return this.#refusals.time
    return whenSettled(this.#replays!.use(nonce, nowMs), (verdict) =>
      verdict === 'first' ? null : this.#refusals[verdict],
    )
  }
}

const CHALLENGE = ['www-authenticate', 'Signature']

function compileRefusals({ coverage }: Requirements<Owner>, env: CompileEnv) {
  const invalid = (detail: string): Reply => env.refusal('GW_SIGNATURE_INVALID', detail, CHALLENGE)
  const texts: Readonly<Record<Exclude<Failure, 'missing' | 'component'>, string>> = {
    malformed: "'signature-input' and 'signature' are not valid (RFC 9421)",
    coverage: `the signature does not cover the required components: ${coverage.text}`,
    time: "the signature has no 'created', or is too old, in the future or expired; sign again and check the clock",
    nonce: "the signature requires a 'nonce', a different one for every request",
    invalid: 'the signature was not made for this request with a known key',
  }
  return {
    missing: env.refusal(
      'GW_SIGNATURE_MISSING',
      `sign the request (RFC 9421) over ${coverage.text}`,
      CHALLENGE,
    ),
    malformed: invalid(texts.malformed),
    coverage: invalid(texts.coverage),
    time: invalid(texts.time),
    nonce: invalid(texts.nonce),
    invalid: invalid(texts.invalid),
    digest: invalid("'content-digest' does not match the body in sha-256 or sha-512"),
    replayed: invalid('the nonce has already been used; use a different one for every request'),
    overloaded: overloadRefusal('too many signatures are being checked; try again'),
    full: env.refusal('GW_OVERLOADED', 'too many nonces are being tracked; try again', ['retry-after', '10']),
    unavailable: replayUnavailable(env),
  }
}
