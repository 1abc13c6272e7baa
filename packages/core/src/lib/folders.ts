import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Of folders that hold what only their owner may read. */
const PRIVATE = 0o700

/**
 * Makes a folder and those above it that are missing, one by one: where a file system makes no folders, as /proc, Node.js 20
 * tries for ever with `recursive`.
 * @throws the file system's error, EEXIST where something else has the name.
 */
export function makeFolders(folder: string, mode = PRIVATE): void {
  if (isFolder(folder)) return
  const parent = dirname(resolve(folder))
  if (parent !== resolve(folder)) makeFolders(parent, mode)
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if (!isFolder(folder)) throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
