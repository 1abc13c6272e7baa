import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolders } from '@sluice/core'
import { newToken } from './server/access.js'
import { CONTROLLER, type ControlLog } from './state/control-log.js'

/**
 * Creates the first admin token of an empty store and writes it to a private file. Returns true if it did.
 * @throws Error if the file exists or cannot be written
 */
export async function createFirstToken(log: ControlLog, file: string): Promise<boolean> {
  if (log.state.tokens.size > 0) return false
  const { text, sha256 } = newToken()
  makeFolders(dirname(file))
  await writeFile(file, `${text}\n`, { mode: 0o600, flag: 'wx' })
  const created = await log.append(CONTROLLER, ({ tokens }) =>
    tokens.size > 0
      ? null
      : { type: 'token.created', token: randomUUID(), name: 'admin', role: 'admin', groups: ['*'], sha256 },
  )
  // Another controller was faster.
  if (created === null) await rm(file)
  return created !== null
}
