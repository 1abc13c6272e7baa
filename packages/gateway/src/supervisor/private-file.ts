import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolders } from '@sluice/core'

/**
 * Writes a file that only its owner can read, wholly or not at all: a crash at any moment leaves the old content or
 * the new one. The directory is made when it is missing.
 * @throws Error of the file system.
 */
export function writePrivateFile(path: string, text: string): void {
  makeFolders(dirname(path))
  const draft = `${path}.tmp`
  // A draft that a crash left behind may have other permissions; `wx` on a fresh name cannot inherit them.
  rmSync(draft, { force: true })
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
  syncDirectory(dirname(path))
}

/** The rename itself survives a power loss only when the directory is on disk too. */
function syncDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
