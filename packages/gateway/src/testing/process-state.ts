import { readdirSync } from 'node:fs'
import v8 from 'node:v8'
import { runInNewContext } from 'node:vm'

v8.setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Files and sockets that this process has open. */
export function descriptors(): number {
  return readdirSync('/proc/self/fd').length
}

/** Bytes of objects and buffers that are in use, without what a collection frees. */
export function usedBytes(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
