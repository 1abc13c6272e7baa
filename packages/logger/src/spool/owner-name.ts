import { createHash, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'

/**
 * Returns a unique owner name: machine, start time, worker and a random part. Record IDs start with it, so
 * IDs of one machine sort by time.
 */
export function ownerName(worker: number): string {
  const host = createHash('sha256').update(hostname()).digest('hex').slice(0, 8)
  return `${host}-${Date.now().toString(36)}-${worker}-${randomBytes(3).toString('hex')}`
}

/**
 * Returns true if a name belongs to an owner or its directory. Earlier versions named a directory that was taken over
 * `<creator>~<owner>`.
 */
export function isOwnerName(name: string): boolean {
  return name.split('~').every((part) => /^[0-9a-f]{8}-[0-9a-z]+-\d+-[0-9a-f]{6}$/.test(part))
}
