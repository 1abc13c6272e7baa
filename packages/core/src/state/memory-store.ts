import type { Grant, LimitRule, StateStore } from '../contract/state.js'
import { MemoryTable } from './memory-table.js'

/** Store in the memory of this process. */
export class MemoryStore implements StateStore {
  readonly #table: MemoryTable

  constructor(table = new MemoryTable()) {
    this.#table = table
  }

  async get(key: string): Promise<Uint8Array | null> {
    return this.#table.get(key)
  }

  async set(key: string, value: Uint8Array, ttlMs: number, only?: 'absent'): Promise<boolean> {
    return this.#table.set(key, value, ttlMs, only)
  }

  async delete(key: string): Promise<boolean> {
    return this.#table.delete(key)
  }

  async add(key: string, amount: number, ttlMs: number): Promise<number> {
    return this.#table.add(key, amount, ttlMs)
  }

  async take(key: string, rule: LimitRule, amount: number): Promise<Grant> {
    return this.#table.take(key, rule, amount)
  }

  async giveBack(key: string, rule: LimitRule, amount: number): Promise<void> {
    this.#table.giveBack(key, rule, amount)
  }

  async list(prefix: string, most: number): Promise<string[]> {
    return this.#table.list(prefix, most)
  }

  async deleteAll(prefix: string): Promise<number> {
    return this.#table.deleteAll(prefix)
  }
}
