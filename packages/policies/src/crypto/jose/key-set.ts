import type { SignatureCheck } from '../keys/signature.js'

/** True if a key signs tokens with these claims. */
export type IssuerCheck = (iss: string | null, tid: unknown) => boolean

/** One key with one algorithm. */
export interface SignatureKey {
  readonly kid: string | null
  /** Says whose tokens the key signs; null: those of every issuer that the policy allows. */
  readonly issuer: IssuerCheck | null
  readonly check: SignatureCheck
}

/**
 * Where the keys come from that signatures are checked with. A set that is fetched from somewhere answers from what it
 * has, and with a promise only while it has to ask for a key it has not met.
 */
export interface KeySet {
  /** Changes whenever a key is added or goes away: what was verified before is verified again. */
  readonly generation: number
  /** The keys that may have signed under this algorithm and key id; few, because each is tried. */
  candidates(alg: string, kid: string | null): readonly SignatureKey[] | Promise<readonly SignatureKey[]>
  /** True if `renewed` would ask the issuer now. */
  readonly isRenewable?: boolean
  /**
   * Returns refreshed keys if no candidate verifies the signature: an issuer may reuse a key id. Returns or resolves to
   * null if there are no other keys, or the last refresh was too recent.
   */
  renewed?(alg: string, kid: string | null): Promise<readonly SignatureKey[] | null> | null
}
