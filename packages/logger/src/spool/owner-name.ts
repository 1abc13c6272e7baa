import { createHash, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'

/** Between the name that a directory was made with and that of its present owner. */
export const OWNED_BY = '~'

/**
 * A name that no other owner of a spool has had or will have: machine, start, worker and a random part. Ids of records
 * begin with it, and those of one machine sort by time.
 */
export function ownerName(worker: number): string {
  const host = createHash('sha256').update(hostname()).digest('hex').slice(0, 8)
  return `${host}-${Date.now().toString(36)}-${worker}-${randomBytes(3).toString('hex')}`
}

/** Whether a directory is that of an owner, and not somebody else's. */
export function isOwnerName(name: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-z]+-\d+-[0-9a-f]{6}$/.test(name)
}

/** Who made a directory, and who has it now; null for a directory of somebody else. */
export function ownersOf(name: string): { readonly made: string; readonly taken: string } | null {
  const [made = '', taken = made] = name.split(OWNED_BY)
  return isOwnerName(made) && isOwnerName(taken) ? { made, taken } : null
}
