import {
  type CompileEnv,
  type Eventual,
  type Exchange,
  headerCount,
  headerValue,
  type Outcome,
  parseDuration,
  type Reply,
  removeHeader,
  type Slot,
} from '@sluice/core'
import { OneTimeUse, replayUnavailable, type UseVerdict } from '../../crypto/replay/one-time-use.js'
import { ReplayCache } from '../../crypto/replay/replay-cache.js'
import { TimeWindow, wallClockNow } from '../../crypto/replay/time-window.js'
import { receivedRequest } from '../../shared/message/request-facts.js'
import { whenSettled } from '../../shared/outcome/when-settled.js'
import type { Check, Mac } from './mac.js'
import { completed, type Draft } from './payload.js'
import type { HmacSignatureConfig } from './schema.js'
import type { Scheme } from './scheme.js'
import { parseTime } from './signature-time.js'

/** A request whose head has been checked and whose body is awaited. */
interface Pending {
  readonly signatures: readonly Buffer[]
  readonly draft: Draft
  /** Signed time, or '' if no time is signed. */
  readonly timestamp: string
}

/** Verifies requests in two steps: first the head, then the body. */
export class Gate {
  readonly #scheme: Scheme
  readonly #mac: Mac
  readonly #window: TimeWindow
  readonly #strips: boolean
  readonly #replays: OneTimeUse | null
  readonly #pending: Slot<Pending>
  readonly #refusals: ReturnType<typeof compileRefusals>

  constructor(config: HmacSignatureConfig, scheme: Scheme, mac: Mac, env: CompileEnv) {
    this.#scheme = scheme
    this.#mac = mac
    this.#window = new TimeWindow(config.tolerance, config.clockSkew)
    this.#strips = config.strip
    this.#replays = config.replay === undefined ? null : this.#oneTimeUse(config.replay, env)
    this.#pending = env.slot()
    this.#refusals = compileRefusals(scheme, env)
  }

  /** Checks everything that does not need the body, before it is read. */
  admit(x: Exchange): Eventual {
    const pending = this.#read(x)
    if ('status' in pending) return pending
    if (this.#scheme.payload.needsBody) {
      this.#pending.set(x, pending)
      if (this.#strips) this.#strip(x)
      return null
    }
    if (this.#strips) this.#strip(x)
    return this.#validate(x, pending, EMPTY)
  }

  /**
   * Completes the check with the body. If a condition became true only after the head, the head is checked
   * here.
   */
  complete(x: Exchange, body: Uint8Array): Eventual {
    const pending = this.#pending.get(x) ?? this.#read(x)
    return 'status' in pending ? pending : this.#validate(x, pending, body)
  }

  #read(x: Exchange): Pending | Reply {
    const { header, field, payload } = this.#scheme
    const lines = headerCount(x.headers, header)
    if (lines === 0) return this.#refusals.missing
    const content = lines === 1 ? field.read(headerValue(x.headers, header)!) : null
    if (content === null) return this.#refusals.invalid
    const timestamp = content.timestamp ?? this.#timestamp(x)
    if (timestamp === null) return this.#refusals.stale
    if (!this.#isTimely(timestamp, x.startedAt)) return this.#refusals.stale
    return { signatures: content.signatures, draft: payload.draft(receivedRequest(x), timestamp), timestamp }
  }

  /** Returns '' if no time is signed, or null if the time is missing or repeated. */
  #timestamp(x: Exchange): string | null {
    const { timestamp } = this.#scheme
    if (timestamp === null) return ''
    return headerCount(x.headers, timestamp.header) === 1 ? headerValue(x.headers, timestamp.header) : null
  }

  #isTimely(timestamp: string, nowMs: number): boolean {
    if (!this.#scheme.payload.hasTimestamp) return true
    const signedMs = parseTime(timestamp, this.#scheme.timestamp?.format ?? 'unix')
    return signedMs !== null && this.#window.has(signedMs, nowMs)
  }

  #validate(x: Exchange, { signatures, draft, timestamp }: Pending, body: Uint8Array): Eventual {
    const check = whenSettled(completed(draft, body), (pieces) => this.#mac.check(pieces, signatures))
    return whenSettled(check, (found) => this.#decide(x, found, timestamp))
  }

  #decide(x: Exchange, { matches, name }: Check, timestamp: string): Eventual {
    if (!matches) return this.#refusals.invalid
    if (this.#replays === null) return null
    const nowMs = wallClockNow(x)
    if (!this.#isTimely(timestamp, nowMs)) return this.#refusals.stale
    return whenSettled(this.#replays.use(name.toString('base64'), nowMs), (verdict) => this.#answer(verdict))
  }

  #answer(verdict: UseVerdict): Outcome {
    return verdict === 'first' ? null : this.#refusals[verdict]
  }

  #strip(x: Exchange): void {
    removeHeader(x.headers, this.#scheme.header)
    if (this.#scheme.timestamp !== null) removeHeader(x.headers, this.#scheme.timestamp.header)
  }

  #oneTimeUse(config: NonNullable<HmacSignatureConfig['replay']>, env: CompileEnv): OneTimeUse {
    const { maxEntries: entries, window } = config
    const ttlMs = this.#scheme.payload.hasTimestamp ? this.#window.lengthMs : parseDuration(window)
    const space = `hmac-signature/${this.#scheme.header}`
    const seen = env.shared(`${space}/${entries}/${ttlMs}`, () => new ReplayCache(entries, ttlMs))
    return new OneTimeUse(env, { space, seen, sharing: config })
  }
}

const EMPTY = new Uint8Array(0)

function compileRefusals({ header }: Scheme, env: CompileEnv) {
  const challenge = ['www-authenticate', `Signature header="${header}"`]
  return {
    missing: env.refusal('GW_SIGNATURE_MISSING', `sign the request in the header '${header}'`, challenge),
    invalid: env.refusal(
      'GW_SIGNATURE_INVALID',
      `the signature in '${header}' is not valid for this request`,
      challenge,
    ),
    stale: env.refusal(
      'GW_SIGNATURE_INVALID',
      'the signature time is missing, too old or in the future; sign again and check the clock',
      challenge,
    ),
    replayed: env.refusal(
      'GW_SIGNATURE_INVALID',
      'the signature has already been used; sign each request separately',
      challenge,
    ),
    full: env.refusal('GW_OVERLOADED', 'too many signatures are being tracked; try again', [
      'retry-after',
      '10',
    ]),
    unavailable: replayUnavailable(env),
  }
}
