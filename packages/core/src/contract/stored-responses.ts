/** Stored responses to purge: one key, all with a tag, all whose key starts with a prefix, or all. */
export type PurgeScope =
  | { readonly by: 'key' | 'tag' | 'prefix'; readonly value: string }
  | { readonly by: 'all' }

/** Information about a stored response for operators. Never includes the body. */
export interface StoredResponseFacts {
  readonly key: string
  readonly status: number
  readonly bytes: number
  readonly ageSeconds: number
  /** Remaining time to live in seconds. Negative if the response is stale. */
  readonly ttlSeconds: number
  readonly tags: readonly string[]
  /** Request fields that select this response (`Vary`). */
  readonly vary: readonly string[]
}

/** Counters and size of a response store in one worker. */
export interface StoredResponseCounts {
  readonly requests: ReadonlyMap<string, number>
  readonly evictions: number
  readonly entries: number
  readonly bytes: number
}

/**
 * Stored responses of one worker, as the admin interface sees them. A policy creates it with `env.shared`.
 */
export abstract class StoredResponses {
  /** Deletes stored responses and returns their number. */
  abstract purge(scope: PurgeScope): number
  /** Returns up to `limit` stored responses of a key. */
  abstract find(key: string, limit: number): readonly StoredResponseFacts[]
  abstract counts(): StoredResponseCounts
  /**
   * Returns the URIs that requests of this worker have changed since the last call (RFC 9111 section 4.4).
   */
  abstract takeChanged(): readonly string[]
  /** Deletes the stored responses of a URI that a request in another worker has changed. */
  abstract invalidate(uri: string, nowMs: number): void
}
