import { MemoryStore, type StateStore, type StateStores } from '@sluice/core'

/** The stores of a gateway that shares nothing with others. @param memory default: in this process. */
export function memoryStores(memory: StateStore = new MemoryStore()): StateStores {
  return { store: () => memory, isShared: false }
}
