import { getHeapStatistics } from 'node:v8'

let lastResidentBytes = 0

/**
 * Resident memory of this process, in bytes. Node.js reads it from a file, which fails while the process has no descriptor
 * left: then it is what was read last.
 */
export function residentBytes(): number {
  try {
    lastResidentBytes = process.memoryUsage.rss()
  } catch {
    // What was read last will do.
  }
  return lastResidentBytes
}

/** JavaScript heap in use, in bytes; unlike `process.memoryUsage()` it opens no file. */
export function heapUsedBytes(): number {
  return getHeapStatistics().used_heap_size
}
