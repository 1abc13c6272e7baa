/**
 * The authenticated caller. Every authenticating policy produces one from a credential. Conditions, limit
 * keys, templates and the traffic log read it from `x.consumer`, which is null for anonymous requests.
 *
 * If several policies authenticate a request, the first one sets the consumer. Later policies still check
 * their credentials and can refuse the request, but do not replace the consumer. Counters and cached values
 * therefore stay with one consumer.
 */
export interface Consumer {
  readonly id: string
  readonly name: string
  /** Policy that authenticated the caller, such as `basic-auth` or `api-key`. */
  readonly auth: string
  /**
   * Identifies one of several credentials of the consumer, such as a key ID. Null if the credential has no
   * name.
   */
  readonly credential: string | null
  readonly groups: readonly string[]
  /** Roles, or null if the credential does not support roles. */
  readonly roles: readonly string[] | null
  /** Scopes of the credential (RFC 6749 section 3.3), or null if it does not support scopes. */
  readonly scopes: readonly string[] | null
  /** Other attributes as text by name, such as token claims or consumer metadata. Null if unavailable. */
  readonly claims: ReadonlyMap<string, string> | null
  /** Items of claims that are lists, by claim name. Null if no claim is a list. */
  readonly claimLists: ReadonlyMap<string, readonly string[]> | null
}

/** Creates a consumer. All consumers have the same object shape. The name defaults to the ID. */
export function consumerOf(
  auth: string,
  id: string,
  known: Partial<Omit<Consumer, 'id' | 'auth'>> = {},
): Consumer {
  return {
    id,
    name: known.name ?? id,
    auth,
    credential: known.credential ?? null,
    groups: known.groups ?? [],
    roles: known.roles ?? null,
    scopes: known.scopes ?? null,
    claims: known.claims ?? null,
    claimLists: known.claimLists ?? null,
  }
}
