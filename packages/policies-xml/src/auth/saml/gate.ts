import { hash } from 'node:crypto'
import {
  type CompileEnv,
  type Consumer,
  type Eventual,
  type Exchange,
  type Outcome,
  Overload,
  parseDuration,
  type Reply,
  UnreadableBody,
} from '@sluice/core'
import { replayUnavailable } from '@sluice/policies/crypto/replay/one-time-use'
import { claimAt, claimTexts } from '@sluice/policies/identity/token/claim'
import { idOf } from '@sluice/policies/identity/token/claim-rules'
import { consumerIn } from '@sluice/policies/identity/token/consumer-claims'
import { ForwardedClaims } from '@sluice/policies/identity/token/forwarded-claims'
import { type CredentialLocation, headerCredential } from '@sluice/policies/shared/field-location/credential'
import { isForm } from '@sluice/policies/shared/message/form'
import { overloadRefusal } from '@sluice/policies/shared/outcome/overload'
import { whenSettled } from '@sluice/policies/shared/outcome/when-settled'
import { LRUCache } from 'lru-cache'
import { type Assertion, MAX_ASSERTION_BYTES, type VerificationResult } from './assertion.js'
import { claimsOf } from './assertion-claims.js'
import { assertionUse, type UseAssertion } from './assertion-use.js'
import { BASE64, formField, MAX_FORM_BYTES } from './form.js'
import type { IdentityProvider } from './idp.js'
import { type AssertionIssue, ISSUES } from './refused-assertion.js'
import { DEFAULT_FIELD, DEFAULT_HEADER, DEFAULT_SKEW, NAME_ID, type SamlConfig } from './schema.js'
import { assertionVerifier, type VerifyAssertion } from './verifier.js'

const MAX_KNOWN = 10_000
const MAX_KNOWN_BYTES = 16 * 1024 * 1024

interface Accepted {
  readonly assertion: Assertion
  readonly consumer: Consumer
  readonly claims: ReadonlyMap<string, string>
  readonly lines: readonly string[]
}

/** Decides on one request. */
export class SamlGate {
  readonly #config: SamlConfig
  readonly #verify: VerifyAssertion
  readonly #use: UseAssertion
  readonly #isOnce: boolean
  readonly #skewMs: number
  readonly #forwarded: ForwardedClaims
  readonly #header: CredentialLocation
  readonly #known = new LRUCache<string, Accepted>({ max: MAX_KNOWN, maxSize: MAX_KNOWN_BYTES })
  readonly #refusals: Readonly<Record<AssertionIssue, Reply>>
  readonly #unavailable: Reply

  /** @throws Error for a header that cannot be read or set. */
  constructor(config: SamlConfig, idp: IdentityProvider, env: CompileEnv) {
    const { from = 'header', audience, recipient = null } = config
    this.#config = config
    this.#skewMs = parseDuration(config.clockSkew ?? DEFAULT_SKEW)
    const rules = { issuer: idp.entityId, keys: idp.keys, audience, recipient, skewMs: this.#skewMs }
    this.#verify = assertionVerifier(rules, from === 'soap-header' ? from : 'root', env)
    this.#isOnce = config.once ?? from === 'form'
    this.#use = assertionUse(idp, { sharing: config.replay ?? {}, skewMs: this.#skewMs }, env)
    this.#header = headerCredential(config.name ?? DEFAULT_HEADER, '')
    this.#forwarded = new ForwardedClaims(
      config.forwardClaims ?? {},
      from === 'header' ? this.#header.name : 'content-type',
    )
    this.#unavailable = replayUnavailable(env)
    this.#refusals = Object.fromEntries(
      Object.entries(ISSUES).map(([issue, [code, detail]]) => [issue, env.refusal(code, detail)]),
    ) as Record<AssertionIssue, Reply>
  }

  admitHeader(x: Exchange): Eventual {
    this.#forwarded.clear(x.headers)
    const text = this.#header.read(x)
    if (text === '') return this.#refusals.missing
    if (text === null || text.length > MAX_ASSERTION_BYTES || !BASE64.test(text))
      return this.#refusals.malformed
    const key = hash('sha256', text, 'base64url')
    const known = this.#known.get(key)
    const accept = (accepted: Accepted): null => {
      if (this.#config.strip !== false) this.#header.strip(x)
      return this.#accept(x, accepted)
    }
    if (known !== undefined) {
      if (x.startedAt < known.assertion.validUntilMs) return accept(known)
      // The assertion or the certificate has expired. Another certificate may be valid.
      this.#known.delete(key)
    }
    return this.#decide(x, Buffer.from(text, 'base64'), (accepted) => {
      if (!this.#isOnce && !accepted.assertion.isOneTime)
        this.#known.set(key, accepted, { size: 2000 + text.length })
      return accept(accepted)
    })
  }

  /** Checks an assertion in the body, before the body is read. */
  admitBody(x: Exchange): Outcome {
    this.#forwarded.clear(x.headers)
    if (x.contentLength === 0) return this.#refusals.missing
    if (this.#config.from !== 'form') {
      x.bodyLimit = Math.min(x.bodyLimit, MAX_ASSERTION_BYTES)
      return null
    }
    if (!isForm(x)) return this.#refusals.missing
    x.bodyLimit = Math.min(x.bodyLimit, MAX_FORM_BYTES)
    return null
  }

  readBody(x: Exchange, body: Uint8Array): Eventual {
    const bytes = this.#config.from === 'form' ? formField(body, this.#config.name ?? DEFAULT_FIELD) : body
    if (bytes === null) return this.#refusals.missing
    return this.#decide(x, bytes, (accepted) => this.#accept(x, accepted))
  }

  #decide(x: Exchange, bytes: Uint8Array, accept: (accepted: Accepted) => Outcome): Eventual {
    const conclude = (read: VerificationResult): Eventual => this.#conclude(x, read, accept)
    try {
      const read = this.#verify(bytes, x)
      return read instanceof Promise ? read.then(conclude).catch(refuseOverload) : conclude(read)
    } catch (problem) {
      return refuseOverload(problem)
    }
  }

  #conclude(x: Exchange, read: VerificationResult, accept: (accepted: Accepted) => Outcome): Eventual {
    if ('issue' in read) return this.#refuse(x, read.issue, read.reason)
    const { assertion } = read
    // This policy sends no requests, so the assertion answers a request of another service.
    if (assertion.inResponseTo.length > 0)
      return this.#refuse(x, 'recipient', 'the assertion answers a request')
    const accepted = this.#accepted(assertion)
    if (accepted === null) return this.#refuse(x, 'malformed', 'the assertion does not identify the consumer')
    if (!this.#isOnce && !assertion.isOneTime) return accept(accepted)
    return whenSettled(this.#use(assertion), (verdict) => {
      if (verdict === 'first') return accept(accepted)
      if (verdict === 'full') return OVERLOADED
      if (verdict === 'unavailable') return this.#unavailable
      return this.#refuse(x, verdict, ISSUES[verdict][1])
    })
  }

  #refuse(x: Exchange, issue: AssertionIssue, reason: string): Reply {
    x.record.reason = reason
    return this.#refusals[issue]
  }

  #accepted(assertion: Assertion): Accepted | null {
    const claims = claimsOf(assertion, this.#config)
    const { consumerClaim = NAME_ID } = this.#config
    if (idOf(claimAt(claims, consumerClaim)) === null) return null
    const texts = claimTexts(claims)
    const consumer = consumerIn(claims, { ...this.#config, consumerClaim, auth: 'saml', texts })
    return { assertion, consumer, claims: texts, lines: this.#forwarded.linesOf(claims) }
  }

  #accept(x: Exchange, { consumer, claims, lines }: Accepted): null {
    for (let i = 0; i < lines.length; i++) x.headers.push(lines[i]!)
    x.identify(consumer)
    x.claims = claims
    return null
  }
}

const OVERLOADED = overloadRefusal('too many assertions are being checked: try again later')

/** @throws the error if it is not an overload. */
function refuseOverload(problem: unknown): Reply {
  if (problem instanceof Overload || problem instanceof UnreadableBody) return OVERLOADED
  throw problem
}
