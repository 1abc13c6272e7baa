import { parentPort, workerData } from 'node:worker_threads'
import { CacheStore, type StoreMemory } from '../store/cache-store.js'
import { FoundEntry } from '../store/entry.js'

/** Settings of a test thread, which writes and reads the same few keys as all others. */
export interface WriterData {
  readonly memory: StoreMemory
  readonly rounds: number
  readonly seed: number
}

const { memory, rounds, seed } = workerData as WriterData
const store = new CacheStore(memory)
const found = new FoundEntry(100_000)
let torn = 0
let hits = 0
for (let i = 0; i < rounds; i++) {
  const key = `s/${(i * 7 + seed) % 50}`
  // Every byte of a value is the same, so that a value written by two threads is detected.
  const value = new Uint8Array(((i * 131 + seed) % 60) * 500).fill((i + seed) % 251)
  store.write({ key, type: '', tags: '', value, expiresAt: Number.POSITIVE_INFINITY }, 0, false)
  if (store.read(`s/${(i * 13) % 50}`, 0, found)) {
    hits++
    if (found.value.some((byte) => byte !== found.value[0])) torn++
  }
}
parentPort?.postMessage({ torn, hits })
