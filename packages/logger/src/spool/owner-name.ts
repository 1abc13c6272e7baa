import { createHash, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'

/** Separator between the names of a directory's creator and its current owner. */
export const OWNED_BY = '~'

/**
 * Returns a unique owner name: machine, start time, worker and a random part. Record IDs start with it, so
 * IDs of one machine sort by time.
 */
export function ownerName(worker: number): string {
  const host = createHash('sha256').update(hostname()).digest('hex').slice(0, 8)
  return `${host}-${Date.now().toString(36)}-${worker}-${randomBytes(3).toString('hex')}`
}

/** Returns true if a directory name is an owner name. */
export function isOwnerName(name: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-z]+-\d+-[0-9a-f]{6}$/.test(name)
}

/** Returns the creator and current owner of a directory, or null if it is not a spool directory. */
export function ownersOf(name: string): { readonly made: string; readonly taken: string } | null {
  const [made = '', taken = made] = name.split(OWNED_BY)
  return isOwnerName(made) && isOwnerName(taken) ? { made, taken } : null
}
