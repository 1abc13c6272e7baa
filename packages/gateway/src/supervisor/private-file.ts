import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { makeFolders } from '@sluice/core'

/** Whose a file is, and who else may read it. */
export interface FileRights {
  readonly uid: number
  readonly gid: number
  readonly mode: number
}

/**
 * Writes a file that only its owner can read, wholly or not at all: a crash at any moment leaves the old content or
 * the new one. The directory is made when it is missing.
 * @param rights those that it gets in place of that.
 * @throws Error of the file system; EPERM where it cannot be given to that owner.
 */
export function writePrivateFile(path: string, text: string, rights: FileRights | null = null): void {
  makeFolders(dirname(path))
  const draft = `${path}.tmp`
  // A draft that a crash left behind may have other permissions; `wx` on a fresh name cannot inherit them.
  rmSync(draft, { force: true })
  const file = openSync(draft, 'wx', 0o600)
  try {
    if (rights !== null) giveRights(file, rights)
    writeFileSync(file, text)
    fsyncSync(file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
  syncDirectory(dirname(path))
}

function giveRights(file: number, { uid, gid, mode }: FileRights): void {
  const now = fstatSync(file)
  if (now.uid !== uid || now.gid !== gid) fchownSync(file, uid, gid)
  fchmodSync(file, mode)
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
