import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'

/** The file of a kind that the gateway of a document has in a data directory, which several gateways may share. */
export function documentFile(dataDir: string, kind: string, document: string): string {
  const key = createHash('sha256').update(resolve(document)).digest('hex').slice(0, 12)
  return resolve(join(dataDir, `${kind}-${key}.json`))
}
