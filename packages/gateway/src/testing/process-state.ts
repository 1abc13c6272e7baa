import { readdirSync } from 'node:fs'
import v8 from 'node:v8'
import { runInNewContext } from 'node:vm'

v8.setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Returns the number of files and sockets that this process has open. */
export function descriptors(): number {
  return readdirSync('/proc/self/fd').length
}

/** Returns the bytes of live objects and buffers, after a garbage collection. */
export function usedBytes(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
