import { createHash, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'

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
