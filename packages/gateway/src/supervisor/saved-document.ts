import { realpathSync, statSync } from 'node:fs'
import { readDocumentFile } from '@sluice/config/serving'
import { writePrivateFile } from './private-file.js'

/**
 * Writes a document to the file that the gateway was started with, wholly or not at all. The file keeps its owner and mode,
 * and a link keeps leading to it.
 * @param lastRead the text that the gateway has read: an edit since is not overwritten.
 * @throws Error of the file system, or for an edit.
 */
export function saveDocument(path: string, text: string, lastRead: string): void {
  const file = realpathSync(path)
  if (readDocumentFile(file).text !== lastRead)
    throw new Error('the file has changed since the gateway read it; try again')
  const { uid, gid, mode } = statSync(file)
  writePrivateFile(file, text, { uid, gid, mode: mode & 0o777 })
}
