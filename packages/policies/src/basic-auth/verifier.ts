import { LRUCache } from 'lru-cache'
import { equalDigests, KeyedDigest } from './keyed-digest.js'
import { matchesHash, type PasswordHash } from './password.js'
import { Turns } from './turns.js'

/** Users remembered as verified, and attempts remembered as refused. */
const MAX_REMEMBERED = 10_000
/** Verifications accepted and not finished; at 60 ms each and two at a time the last one waits about two seconds. */
const MAX_PENDING = 64
/** Half of the default thread pool: name look-ups and files need the other half. */
const MAX_RUNNING = 2
/** A refusal is forgotten soon, because it only has to blunt a client that repeats itself. */
const MAX_REFUSED_MS = 10_000

/** Whose password is checked: the hash, and a text in which the name and the hash are one key. */
export interface Account {
  readonly key: string
  readonly hash: PasswordHash
}

interface Verified {
  readonly digest: string
  readonly at: number
}

/**
 * Checks passwords, and remembers the outcome so that the costly hash runs once per user, password and lifetime:
 *
 *     verified   account key            →  digest of name:password, time     one line per user: wrong passwords
 *     refused    account key + digest   →  time                              cannot push verified ones out
 *     pending    account key + digest   →  promise
 *
 * The account key holds the stored hash: after a reload with another hash nothing that was remembered applies.
 */
export class PasswordVerifier {
  readonly #digests = new KeyedDigest()
  readonly #verified = new LRUCache<string, Verified>({ max: MAX_REMEMBERED })
  readonly #refused = new LRUCache<string, number>({ max: MAX_REMEMBERED })
  readonly #pending = new Map<string, Promise<boolean>>()
  readonly #turns = new Turns(MAX_RUNNING)

  /** What stands for `name:password` in every question below. */
  digestOf(credentials: string): string {
    return this.#digests.of(credentials)
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

  /**
   * Runs the password hash, once for equal questions asked at the same time. Null when too many wait already.
   * @param credentials `name:password`, whose digest comes with it.
   */
  verify(account: Account, credentials: string, digest: string, nowMs: number): Promise<boolean> | null {
    const key = account.key + digest
    const running = this.#pending.get(key)
    if (running !== undefined) return running
    if (this.#pending.size >= MAX_PENDING) return null
    const password = credentials.slice(credentials.indexOf(':') + 1)
    const verification = this.#turns
      .run(() => matchesHash(password, account.hash))
      .then((matches) => {
        if (matches) this.#verified.set(account.key, { digest, at: nowMs })
        else this.#refused.set(key, nowMs)
        return matches
      })
      .finally(() => this.#pending.delete(key))
    this.#pending.set(key, verification)
    return verification
  }
}
