import type { Manifest } from '@sluice/control-client'
import { LRUCache } from 'lru-cache'
import type { ControlStore } from '../store/control-store.js'

const MAX_MANIFESTS = 32
const MAX_CHUNK_CACHE_BYTES = 32 * 1024 * 1024

/** A manifest with the digests of its chunks. */
interface KnownManifest {
  readonly manifest: Manifest
  readonly chunks: ReadonlySet<string>
}

/** Bundles of the store, with a cache: after a deploy, all members request the same chunks. */
export class Bundles {
  readonly #store: ControlStore
  readonly #manifests = new LRUCache<string, KnownManifest>({ max: MAX_MANIFESTS })
  readonly #chunks = new LRUCache<string, Buffer>({
    maxSize: MAX_CHUNK_CACHE_BYTES,
    sizeCalculation: (bytes) => bytes.length + 1,
  })
  readonly #loading = new Map<string, Promise<Buffer | null>>()

  constructor(store: ControlStore) {
    this.#store = store
  }

  /** Returns a manifest if it is in memory. `load` brings it there. */
  known(digest: string): KnownManifest | null {
    return this.#manifests.get(digest) ?? null
  }

  /** Loads a manifest. Returns null if the store does not have it. @throws Error if the store is unavailable */
  async load(digest: string): Promise<KnownManifest | null> {
    const known = this.known(digest)
    if (known !== null) return known
    const manifest = await this.#store.getManifest(digest)
    if (manifest === null) return null
    const loaded = { manifest, chunks: new Set(manifest.files.flatMap(({ chunks }) => chunks)) }
    this.#manifests.set(digest, loaded)
    return loaded
  }

  /** Returns a chunk, or null if the store does not have it. Concurrent calls read it once. */
  async chunk(digest: string): Promise<Buffer | null> {
    const cached = this.#chunks.get(digest)
    if (cached !== undefined) return cached
    let loading = this.#loading.get(digest)
    if (loading === undefined) {
      loading = this.#store.getChunk(digest).finally(() => this.#loading.delete(digest))
      this.#loading.set(digest, loading)
    }
    const bytes = await loading
    if (bytes !== null) this.#chunks.set(digest, bytes)
    return bytes
  }

  /**
   * Returns the content of a file of a manifest, or null if the bundle or the file does not exist. Reading ends when the
   * content is larger than the manifest says.
   */
  async file(digest: string, path: string): Promise<Buffer | null> {
    const bundle = await this.load(digest)
    const file = bundle?.manifest.files.find((candidate) => candidate.path === path)
    if (file === undefined) return null
    const parts: Buffer[] = []
    let size = 0
    for (const chunk of file.chunks) {
      if (size > file.size) break
      const bytes = await this.chunk(chunk)
      if (bytes === null) return null
      parts.push(bytes)
      size += bytes.length
    }
    return Buffer.concat(parts)
  }
}
