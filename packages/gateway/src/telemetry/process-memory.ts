import { getHeapStatistics } from 'node:v8'

let lastResidentBytes = 0

/**
 * Returns the resident memory of this process in bytes. Node.js reads it from a file, which fails when no
 * descriptor is left. In that case the last value is returned.
 */
export function residentBytes(): number {
  try {
    lastResidentBytes = process.memoryUsage.rss()
  } catch {
    // Keep the last value.
  }
  return lastResidentBytes
}

/** Returns the maximum size of the JavaScript heap in bytes. */
export function heapLimitBytes(): number {
  return getHeapStatistics().heap_size_limit
}

/** Returns the JavaScript heap in use, in bytes. Unlike `process.memoryUsage()` it opens no file. */
export function heapUsedBytes(): number {
  return getHeapStatistics().used_heap_size
}
