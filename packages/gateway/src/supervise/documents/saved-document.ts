import { realpathSync, statSync } from 'node:fs'
import { readDocumentFile } from '@sluice/config/serving'
import { writePrivateFile } from '@sluice/core'

/**
 * Writes a document atomically to the file that the gateway was started with. Owner, mode and symbolic links
 * are kept.
 * @param lastRead text last read from the file; a newer edit is not overwritten.
 * @throws Error of the file system, or if the file was edited since.
 */
export function saveDocument(path: string, text: string, lastRead: string): void {
  const file = realpathSync(path)
  if (readDocumentFile(file).text !== lastRead)
    throw new Error('the file has changed since the gateway read it; merge that change and deploy again')
  const { uid, gid, mode } = statSync(file)
  writePrivateFile(file, text, { uid, gid, mode: mode & 0o777 })
}
