import { clientNetwork, type Exchange } from '@sluice/core'
import { LRUCache } from 'lru-cache'
import type { Credentials } from '../../identity/consumers/basic-credentials.js'
import { equalDigests, KeyedDigest } from '../../identity/consumers/keyed-digest.js'
import type { Account } from '../../identity/consumers/users.js'
import { type Job, PasswordQueue } from './password-queue.js'

/** Maximum number of remembered verifications, and of remembered refusals. */
const MAX_REMEMBERED = 10_000
/**
 * Time for which a refusal is remembered, in milliseconds. Short, because it only has to stop a client that
 * repeats itself.
 */
const MAX_REFUSED_MS = 10_000

interface Verified {
  readonly digest: string
  readonly at: number
}

/**
 * Checks passwords and remembers the results, so that each password of a user is hashed once per `cacheTtl`:
 *
 *     verified   account key            →  digest of the token, time      one entry per user: wrong passwords
 *     refused    account key + digest   →  time                           cannot evict verified ones
 *     pending    account key + digest   →  the running hash
 *     names      digest of the token    →  the user verified with it      avoids decoding the token
 *
 * The account key contains the stored hash, so a changed password invalidates all results.
 */
export class PasswordVerifier {
  readonly #digests = new KeyedDigest()
  readonly #verified = new LRUCache<string, Verified>({ max: MAX_REMEMBERED })
  readonly #refused = new LRUCache<string, number>({ max: MAX_REMEMBERED })
  readonly #names = new LRUCache<string, string>({ max: MAX_REMEMBERED })
  readonly #pending = new Map<string, Job>()
  readonly #queue = new PasswordQueue()

  /** Returns the digest of a Basic token, which the other methods take. */
  digestOf(token: string): string {
    return this.#digests.of(token)
  }

  /**
   * Returns the user name last verified with this token. Use `isVerified` to find out if that is still valid.
   */
  nameOf(digest: string): string | undefined {
    return this.#names.get(digest)
  }

  /** True if these credentials were verified after `sinceMs` (monotonic). */
  isVerified(account: Account, digest: string, sinceMs: number): boolean {
    const verified = this.#verified.get(account.key)
    return verified !== undefined && verified.at > sinceMs && equalDigests(verified.digest, digest)
  }

  /** True if these credentials were refused recently. @param nowMs monotonic time. */
  isRefused(account: Account, digest: string, nowMs: number): boolean {
    const at = this.#refused.get(account.key + digest)
    return at !== undefined && nowMs - at < MAX_REFUSED_MS
  }

  /** True if these credentials have not been verified and no hash is pending for them. */
  isNew(account: Account, digest: string): boolean {
    return !this.#pending.has(account.key + digest) && !this.#wasCorrect(account, digest)
  }

  #wasCorrect(account: Account, digest: string): boolean {
    const verified = this.#verified.get(account.key)
    return verified !== undefined && equalDigests(verified.digest, digest)
  }

  /**
   * Verifies the credentials. Identical concurrent attempts share one hash. Resolves with null if the request
   * ended first. Returns null if this client already has too many waiting attempts.
   */
  verify(
    account: Account,
    credentials: Credentials,
    digest: string,
    x: Exchange,
  ): Promise<boolean | null> | null {
    const key = account.key + digest
    const running = this.#pending.get(key)
    if (running !== undefined) {
      running.requests.push(x)
      return running.result
    }
    const job = this.#queue.add(
      {
        password: credentials.password,
        hash: account.hash,
        isUnknownUser: account.consumer === null,
        isKnownGood: this.#wasCorrect(account, digest),
        client: clientNetwork(x.clientIp),
      },
      x,
    )
    if (job === null) return null
    this.#pending.set(key, job)
    return job.result
      .then((matches) => {
        if (matches === true) {
          this.#verified.set(account.key, { digest, at: x.startedMono })
          this.#names.set(digest, credentials.name)
        } else if (matches === false) this.#refused.set(key, x.startedMono)
        return matches
      })
      .finally(() => this.#pending.delete(key))
  }
}
