import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { visibleText } from '@sluice/core/visible-text'
import { EXIT, Failure, unreadable } from '../output/failure.js'

/** Maximum size of a source file. */
const MAX_BYTES = 16 * 1024 * 1024

/** Reads a source file as UTF-8. @throws Failure if it is missing, not a regular file, or too large */
export function readSourceFile(file: string): string {
  const descriptor = open(file)
  const refuse = (reason: string): Failure =>
    new Failure(`cannot read ${visibleText(file)}: ${reason}`, EXIT.invalid)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw refuse('it is not a regular file')
    if (stats.size > MAX_BYTES) throw refuse(`it is larger than ${MAX_BYTES / 1024 ** 2} MB`)
    const bytes = Buffer.alloc(stats.size)
    return bytes.subarray(0, readSync(descriptor, bytes, 0, stats.size, 0)).toString('utf8')
  } finally {
    closeSync(descriptor)
  }
}

function open(file: string): number {
  try {
    return openSync(file, 'r')
  } catch (error) {
    throw new Failure(unreadable('the file', file, error).message, EXIT.invalid)
  }
}
