import { getHeapStatistics } from 'node:v8'
import { ByteCollector } from '@sluice/core'

/** Memory of a collected body in addition to its bytes: a block for small chunks. */
const BLOCK_BYTES = 16 * 1024

/** Request bodies that this worker is collecting. The limit follows the heap limit, which follows the container's memory. */
export const REQUEST_MEMORY = {
  heldBytes: 0,
  maxBytes: Math.min(256 * 1024 ** 2, Math.floor(getHeapStatistics().heap_size_limit / 4)),
}

/** Collects a request body while it arrives. Its bytes count towards the worker's limit until `take` or `drop`. */
export class ArrivingBody {
  readonly #bytes = new ByteCollector()
  #heldBytes = 0

  get size(): number {
    return this.#bytes.size
  }

  /** Adds a copy of the chunk. Returns false if that would exceed the worker's limit. */
  add(chunk: Uint8Array): boolean {
    const bytes = this.#heldBytes === 0 ? BLOCK_BYTES + chunk.length : chunk.length
    if (REQUEST_MEMORY.heldBytes + bytes > REQUEST_MEMORY.maxBytes) return false
    REQUEST_MEMORY.heldBytes += bytes
    this.#heldBytes += bytes
    this.#bytes.add(chunk)
    return true
  }

  /** Returns the collected bytes. */
  take(): Buffer {
    this.drop()
    return this.#bytes.toBuffer()
  }

  /** Stops counting. Nothing more may be added. */
  drop(): void {
    REQUEST_MEMORY.heldBytes -= this.#heldBytes
    this.#heldBytes = 0
  }
}
