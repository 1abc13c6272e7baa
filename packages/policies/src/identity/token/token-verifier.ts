import type { Exchange, Reply } from '@sluice/core'
import { type JoseHeader, parseJoseHeader, plainType } from '../../crypto/jose/jws-header.js'
import type { KeySet, SignatureKey } from '../../crypto/jose/key-set.js'
import { firstVerified } from '../../crypto/keys/signature.js'
import type { SignatureChecks } from '../../crypto/keys/signature-checks.js'
import { decode } from '../../shared/encoding/byte-text.js'
import { whenSettled } from '../../shared/outcome/when-settled.js'
import { KeysUnavailable } from '../issuer/remote-key-set.js'
import { type ClaimsSet, parseClaims } from './claims-set.js'
import type { TokenRefusals } from './refusals.js'

/** Result of a verification: the claims and the key of a valid signature, or a refusal. */
export type Verdict =
  | { readonly claims: ClaimsSet; readonly key: SignatureKey }
  /** The reason is for the log only. */
  | { readonly refusal: Reply; readonly reason?: string }

const TOKEN = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/
/**
 * Accepted values of `typ` by default. Tokens for other purposes have other types (RFC 8725 section 3.11).
 */
const USUAL_TYPES: readonly string[] = ['jwt', 'at+jwt']

interface TokenVerifierOptions {
  /** Accepted values of `typ`. If absent, the usual types or no type. */
  readonly types?: readonly string[] | undefined
  readonly keys: KeySet
  readonly refusals: TokenRefusals
  readonly checks: SignatureChecks
}

/** Verifies the signatures of tokens. */
export class TokenVerifier {
  readonly #keys: KeySet
  readonly #checks: SignatureChecks
  readonly #refusals: TokenRefusals
  readonly #types: ReadonlySet<string>
  readonly #isTypeNeeded: boolean

  constructor({ types, keys, refusals, checks }: TokenVerifierOptions) {
    this.#keys = keys
    this.#checks = checks
    this.#refusals = refusals
    this.#types = new Set((types ?? USUAL_TYPES).map(plainType))
    this.#isTypeNeeded = types !== undefined
  }

  /** Returns a promise only if keys must be fetched, or if the event loop is too busy for the check. */
  verify(token: string, x: Exchange): Verdict | Promise<Verdict> {
    const { malformed, signature, unavailable } = this.#refusals
    if (!TOKEN.test(token)) return { refusal: malformed }
    const header = parseJoseHeader(token.slice(0, token.indexOf('.')))
    if (header === null || !this.#isRightKind(header)) return { refusal: malformed }
    const onFailure = (error: unknown): Verdict => {
      if (!(error instanceof KeysUnavailable)) throw error
      return { refusal: unavailable, reason: error.message }
    }
    const keys = this.#keys.candidates(header.alg, header.kid)
    const verdict =
      keys instanceof Promise
        ? keys.then((found) => this.#check(token, x, found)).catch(onFailure)
        : this.#check(token, x, keys)
    return whenSettled(verdict, (first) => {
      if (!('refusal' in first) || first.refusal !== signature) return first
      const renewed = this.#keys.renewed?.(header.alg, header.kid) ?? null
      if (renewed === null) return first
      return renewed.then((found) => (found === null ? first : this.#check(token, x, found))).catch(onFailure)
    })
  }

  /**
   * Refuses `crit`, which demands unsupported extensions, and `b64`, which a JWT must not use (RFC 7797
   * section 7).
   */
  #isRightKind({ crit, typ, all }: JoseHeader): boolean {
    if (crit !== null || Object.hasOwn(all, 'b64')) return false
    return typ === null ? !this.#isTypeNeeded : this.#types.has(plainType(typ))
  }

  #check(token: string, x: Exchange, keys: readonly SignatureKey[]): Verdict | Promise<Verdict> {
    const { malformed, overloaded, signature: refused } = this.#refusals
    const [first, last] = [token.indexOf('.'), token.lastIndexOf('.')]
    const payload = decode(token.slice(first + 1, last), 'base64url')
    const signature = decode(token.slice(last + 1), 'base64url')
    if (payload === null || signature === null) return { refusal: malformed }
    const input = Buffer.from(token.slice(0, last), 'latin1')
    const search = firstVerified(keys, ({ check }) => ({ check, input, signature }))
    return whenSettled(this.#checks.run(x, search), (key): Verdict => {
      if (key === null) return { refusal: overloaded }
      if (key === undefined) return { refusal: refused }
      const claims = parseClaims(payload)
      return claims === null ? { refusal: malformed } : { claims, key }
    })
  }
}
