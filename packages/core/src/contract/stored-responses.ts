/** Which stored responses are meant: one by its key, all of a tag, all whose key begins with a text, or all. */
export type PurgeScope =
  | { readonly by: 'key' | 'tag' | 'prefix'; readonly value: string }
  | { readonly by: 'all' }

/** What operators get to see of a stored response; never its body. */
export interface StoredResponseFacts {
  readonly key: string
  readonly status: number
  readonly bytes: number
  readonly ageSeconds: number
  /** Negative: it is stale by so much. */
  readonly ttlSeconds: number
  readonly tags: readonly string[]
  /** The fields of the request that chose it. */
  readonly vary: readonly string[]
}

/** What a store of responses has counted in one worker, and what it holds. */
export interface StoredResponseCounts {
  readonly requests: ReadonlyMap<string, number>
  readonly evictions: number
  readonly entries: number
  readonly bytes: number
}

/** What policies keep of responses in one worker, as operators reach it: a value that a policy made with `env.shared`. */
export abstract class StoredResponses {
  /** Forgets what is meant; answers with how many responses that were. */
  abstract purge(scope: PurgeScope): number
  /** What is stored under a key, at most `limit` of it. */
  abstract find(key: string, limit: number): readonly StoredResponseFacts[]
  abstract counts(): StoredResponseCounts
  /** URIs at which requests of this worker have changed something since it was asked last (RFC 9111, 4.4). */
  abstract takeChanged(): readonly string[]
  /** A request of another worker has changed something at a URI: what is kept of it is forgotten. */
  abstract invalidate(uri: string, nowMs: number): void
}
