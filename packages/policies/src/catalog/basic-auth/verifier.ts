import { clientNetwork, type Exchange } from '@sluice/core'
import { LRUCache } from 'lru-cache'
import type { Credentials } from '../../shared/consumers/basic-credentials.js'
import { equalDigests, KeyedDigest } from '../../shared/consumers/keyed-digest.js'
import type { Account } from '../../shared/consumers/users.js'
import { type Job, PasswordQueue } from './password-queue.js'

/** Users remembered as verified, and attempts remembered as refused. */
const MAX_REMEMBERED = 10_000
/** A refusal is forgotten soon, because it only has to blunt a client that repeats itself. */
const MAX_REFUSED_MS = 10_000

interface Verified {
  readonly digest: string
  readonly at: number
}

/**
 * Checks passwords, and remembers the outcome so that the costly hash runs once per user, password and lifetime:
 *
 *     verified   account key            →  digest of the token, time         one line per user: wrong passwords
 *     refused    account key + digest   →  time                              cannot push verified ones out
 *     pending    account key + digest   →  the hash that is waited for
 *     names      digest of the token    →  name of who was verified with it  spares decoding the token
 *
 * The account key holds the stored hash: after a reload with another hash nothing that was remembered applies.
 */
export class PasswordVerifier {
  readonly #digests = new KeyedDigest()
  readonly #verified = new LRUCache<string, Verified>({ max: MAX_REMEMBERED })
  readonly #refused = new LRUCache<string, number>({ max: MAX_REMEMBERED })
  readonly #names = new LRUCache<string, string>({ max: MAX_REMEMBERED })
  readonly #pending = new Map<string, Job>()
  readonly #queue = new PasswordQueue()

  /** What stands for a Basic token in every question below. */
  digestOf(token: string): string {
    return this.#digests.of(token)
  }

  /** Who was verified with this token at some time: whether that still counts, `isVerified` says. */
  nameOf(digest: string): string | undefined {
    return this.#names.get(digest)
  }

  /** Whether these credentials were verified after `sinceMs` (monotonic). */
  isVerified(account: Account, digest: string, sinceMs: number): boolean {
    const verified = this.#verified.get(account.key)
    return verified !== undefined && verified.at > sinceMs && equalDigests(verified.digest, digest)
  }

  /** Whether these credentials were refused a moment ago. @param nowMs monotonic. */
  isRefused(account: Account, digest: string, nowMs: number): boolean {
    const at = this.#refused.get(account.key + digest)
    return at !== undefined && nowMs - at < MAX_REFUSED_MS
  }

  /** True if these credentials have not been verified and no hash is pending for them. */
  isNew(account: Account, digest: string): boolean {
    return !this.#pending.has(account.key + digest) && !this.#wasRight(account, digest)
  }

  #wasRight(account: Account, digest: string): boolean {
    const verified = this.#verified.get(account.key)
    return verified !== undefined && equalDigests(verified.digest, digest)
  }

  /**
   * Whether the credentials are right, by a hash that equal questions share. Null from the promise: the request ended
   * before; null at once: too much of this client waits already.
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
        isStandIn: account.consumer === null,
        isKnownGood: this.#wasRight(account, digest),
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
