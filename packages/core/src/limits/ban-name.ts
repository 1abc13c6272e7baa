import { counterKey } from './counter-key.js'

/**
 * Kind of entry that a store keeps for a `client-ban` policy. Per caller:
 * - `count`: matching responses in the current window
 * - `ban`: end of the ban, in milliseconds since the epoch
 * - `bans`: number of bans so far
 *
 * For all callers together, `changes` counts new bans, plus `BANS_LIFTED` each time that bans are lifted.
 */
export type BanEntry = 'count' | 'ban' | 'bans' | 'changes'

/**
 * Added to `changes` when bans are lifted. Larger than the number of bans during the lifetime of the entry.
 */
export const BANS_LIFTED = 2 ** 32
/** Lifetime of the `changes` entry in milliseconds. After it, the count restarts at another number. */
export const BAN_CHANGES_MS = 86_400_000

/**
 * Returns the store key of an entry.
 * @param policy ID of the policy.
 * @param key Result of `counterKey`, or empty for `changes`.
 */
export function banName(policy: string, entry: BanEntry, key = ''): string {
  return `ban\n${counterKey(policy)}\n${entry}\n${key}`
}
