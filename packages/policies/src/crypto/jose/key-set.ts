import type { SignatureCheck } from '../keys/signature.js'

/** Returns true if a key may sign tokens with these claims. */
export type IssuerCheck = (iss: string | null, tid: unknown) => boolean

/** A key with one algorithm. */
export interface SignatureKey {
  readonly kid: string | null
  /** Restricts the key to an issuer, or null for every issuer that the policy allows. */
  readonly issuer: IssuerCheck | null
  readonly check: SignatureCheck
}

/**
 * Source of the keys that verify signatures. A fetched set returns the keys that it has, and a promise only while it
 * fetches an unknown key.
 */
export interface KeySet {
  /** Changes whenever keys are added or removed, so that cached verifications are repeated. */
  readonly generation: number
  /**
   * Returns the keys that may have made a signature with this algorithm and key id. They are few, because each is
   * tried.
   */
  candidates(alg: string, kid: string | null): readonly SignatureKey[] | Promise<readonly SignatureKey[]>
  /** True if `renewed` would call the issuer now. */
  readonly isRenewable?: boolean
  /**
   * Returns refreshed keys if no candidate verifies the signature, because an issuer may reuse a key id. Returns or
   * resolves to null if there are no other keys, or the last refresh was too recent.
   */
  renewed?(alg: string, kid: string | null): Promise<readonly SignatureKey[] | null> | null
}
