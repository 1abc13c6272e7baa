import { counterKey } from './counter-key.js'

/**
 * What a store knows of the callers of a `client-ban`: `count`, their responses in the window; `ban`, until when they are
 * banned, ms since 1970; `bans`, how often they were; and of all callers `changes`, how many bans were made, and
 * BANS_LIFTED for each time that some were lifted.
 */
export type BanEntry = 'count' | 'ban' | 'bans' | 'changes'

/** What lifting adds to `changes`: more than bans are made while it is kept. */
export const BANS_LIFTED = 2 ** 32
/** For how long the number of changes is kept; a new one is another number. */
export const BAN_CHANGES_MS = 86_400_000

/** The name of an entry in the store. @param policy the policy's id. @param key as `counterKey` gives it; '' with changes. */
export function banName(policy: string, entry: BanEntry, key = ''): string {
  return `ban\n${counterKey(policy)}\n${entry}\n${key}`
}
