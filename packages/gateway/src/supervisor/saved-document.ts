import { realpathSync, statSync } from 'node:fs'
import { writePrivateFile } from './private-file.js'

/**
 * Writes a document to the file that the gateway was started with, wholly or not at all. The file keeps its owner and mode,
 * and a link keeps leading to it.
 * @throws Error of the file system.
 */
export function saveDocument(path: string, text: string): void {
  const file = realpathSync(path)
  const { uid, gid, mode } = statSync(file)
  writePrivateFile(file, text, { uid, gid, mode: mode & 0o777 })
}
