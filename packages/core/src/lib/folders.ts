import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Mode for directories that only their owner may read. */
const PRIVATE = 0o700

/**
 * Creates a directory and its missing parents, one by one. With the `recursive` option, Node.js 20 loops
 * forever on file systems that do not support creating directories, such as /proc.
 * @throws The file system error, or EEXIST if a file has that name.
 */
export function makeFolders(folder: string, mode = PRIVATE): void {
  if (isFolder(folder)) return
  const parent = dirname(resolve(folder))
  if (parent !== resolve(folder)) makeFolders(parent, mode)
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // Another process may have created it in the meantime.
    if (!isFolder(folder)) throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
