import { constants, ftruncateSync, openSync, writeSync, writevSync } from 'node:fs'

/** Flags for creating a new file. Never opens an existing file or follows a link. */
const NEW_FILE = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_APPEND

/** Creates a file for appending that only its owner may read. @throws The file system error. */
export function createFile(path: string): number {
  return openSync(path, NEW_FILE, 0o600)
}

/**
 * Appends all bytes to a file, or none. A partly written batch would otherwise be counted as lost and yet
 * exist.
 * @param size Size of the file in bytes. @throws The file system error.
 */
export function appendWhole(fd: number, parts: readonly Buffer[], size: number): void {
  let done = 0
  try {
    done = writevSync(fd, parts)
    const bytes = parts.reduce((sum, { length }) => sum + length, 0)
    if (done === bytes) return
    const whole = Buffer.concat(parts)
    while (done < bytes) done += writeSync(fd, whole, done)
  } catch (error) {
    if (done > 0) ftruncateSync(fd, size)
    throw error
  }
}
