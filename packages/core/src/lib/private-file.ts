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
import { makeFolders } from './folders.js'

/** Owner and mode of a file. */
export interface FileRights {
  readonly uid: number
  readonly gid: number
  readonly mode: number
}

/**
 * Writes a file atomically, readable only by its owner: after a crash it has the old or the new content.
 * Creates the directory if it is missing.
 * @param rights owner and mode to set instead.
 * @throws Error of the file system; EPERM if the owner cannot be set.
 */
export function writePrivateFile(path: string, text: string, rights: FileRights | null = null): void {
  makeFolders(dirname(path))
  const draft = `${path}.tmp`
  // A draft left by a crash may have other permissions. `wx` on a fresh name cannot inherit them.
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

/** Syncs a directory: without this, a rename in it might not survive a power loss. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
