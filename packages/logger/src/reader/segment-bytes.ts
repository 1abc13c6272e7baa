import { open } from 'node:fs/promises'
import { isMissing } from './runs.js'

const NOTHING = Buffer.alloc(0)

/**
 * Reads up to `length` bytes of a file from `offset`. Returns fewer at its end, and none if it was deleted.
 */
export async function bytesAt(path: string, offset: number, length: number): Promise<Buffer> {
  try {
    const file = await open(path, 'r')
    try {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, offset)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (error) {
    if (isMissing(error)) return NOTHING
    throw error
  }
}
