import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'

/** Returns the path of a state file for one document. Several gateways may share a data directory. */
export function documentFile(dataDir: string, kind: string, document: string): string {
  const key = createHash('sha256').update(resolve(document)).digest('hex').slice(0, 12)
  return resolve(join(dataDir, `${kind}-${key}.json`))
}
