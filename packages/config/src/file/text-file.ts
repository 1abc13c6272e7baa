import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { systemErrorReason } from '@sluice/core'

/** Reads a text file. @throws Error that says why it cannot be read */
export type ReadFile = (path: string) => string

/**
 * Reads a regular file of UTF-8 text, without its byte order mark.
 * @param maxBytes larger files are rejected
 * @throws Error that describes the problem without the path
 */
export function readTextFile(path: string, maxBytes: number): string {
  const stats = attempt(() => statSync(path))
  if (!stats.isFile()) throw new Error('it is not a regular file')
  if (stats.size > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`)
  return decode(attempt(() => readBounded(path, stats.size, maxBytes)))
}

/**
 * Reads the end of a regular file, one character per byte.
 * @param bytes maximum number of bytes
 * @throws Error that describes the problem without the path
 */
export function readFileEnd(path: string, bytes: number): string {
  const stats = attempt(() => statSync(path))
  if (!stats.isFile()) throw new Error('it is not a regular file')
  return attempt(() => {
    const file = openSync(path, 'r')
    try {
      const end = Buffer.alloc(Math.min(bytes, stats.size))
      const length = readSync(file, end, 0, end.length, stats.size - end.length)
      return end.toString('latin1', 0, length)
    } finally {
      closeSync(file)
    }
  })
}

/** Minimum size of the read buffer. Files that some file systems generate on reading have no size. */
const LEAST_BYTES = 4095

/**
 * Reads at most one byte more than allowed, to detect a file that grows. The buffer has the expected size: a
 * document is read every few seconds, and allocating the maximum would trigger a garbage collection each
 * time.
 */
function readBounded(path: string, expected: number, maxBytes: number): Buffer {
  let buffer: Buffer = Buffer.allocUnsafe(Math.min(Math.max(expected, LEAST_BYTES), maxBytes) + 1)
  const file = openSync(path, 'r')
  try {
    let length = 0
    for (;;) {
      const count = readSync(file, buffer, length, buffer.length - length, null)
      length += count
      if (length > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`)
      if (count === 0) return buffer.subarray(0, length)
      if (length === buffer.length) buffer = enlarged(buffer, maxBytes)
    }
  } finally {
    closeSync(file)
  }
}

function enlarged(buffer: Buffer, maxBytes: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.min(2 * buffer.length, maxBytes + 1))
  buffer.copy(larger)
  return larger
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new Error('it is not UTF-8 text', { cause })
  }
}

function attempt<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    const reason = systemErrorReason(cause)
    throw reason === null ? cause : new Error(reason, { cause })
  }
}
