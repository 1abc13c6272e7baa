/**
 * Who is calling: what every policy that authenticates makes of a credential. Conditions, keys of limits, templates and
 * the traffic log read it from `x.consumer`, which is null while nobody is authenticated.
 *
 * The first policy of a chain that names somebody decides who it is. Those behind it check their credentials too and can
 * refuse, but change nothing here: what was counted or kept for one consumer stays theirs.
 */
export interface Consumer {
  readonly id: string
  readonly name: string
  /** The policy that vouched, and so the kind of the credential: `basic-auth`, `api-key`, … */
  readonly auth: string
  /** Which of several credentials of the consumer it was, such as the id of a key; null: it has no name. */
  readonly credential: string | null
  readonly groups: readonly string[]
  /** Null: the credential and its policy know no roles. */
  readonly roles: readonly string[] | null
  /** What the credential may be used for (RFC 6749, 3.3); null: it knows no scopes. */
  readonly scopes: readonly string[] | null
  /** What else is known, as text by name: claims of a token, metadata of a consumer; null: nothing. */
  readonly claims: ReadonlyMap<string, string> | null
  /** The items of those claims that are lists of several, by their name; null: none is. */
  readonly claimLists: ReadonlyMap<string, readonly string[]> | null
}

/** A consumer of what a policy knows of it; all have the same shape. The name is the id where nobody says another. */
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
