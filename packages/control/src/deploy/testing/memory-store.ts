import { chunkDigest, type Manifest } from '@sluice/control-client'
import type { ControlStore, MemberReport, Reports, StoreChange } from '../../store/control-store.js'
import type { LogEntry, NumberedEntry } from '../../store/log-entry.js'

const NEVER = new Promise<never>(() => {})

/** Contents that several stores share. */
export class SharedContents {
  readonly entries: NumberedEntry[] = []
  readonly chunks = new Map<string, Buffer>()
  readonly manifests = new Map<string, Manifest>()
  readonly members = new Map<string, { readonly report: MemberReport; readonly atMs: number }>()
  readonly controllers = new Map<string, number>()
  readonly listeners = new Set<(change: StoreChange) => void>()
  nowMs = 0

  notify(change: StoreChange): void {
    for (const listener of this.listeners) listener(change)
  }
}

/** A controller's view of shared contents. It can die at a chosen call, before or after its effect, or fail. */
export class MemoryStore implements ControlStore {
  readonly id = '00000000-0000-4000-8000-000000000000'
  readonly #contents: SharedContents
  readonly #own = new Set<(change: StoreChange) => void>()
  /** Number of calls so far. */
  calls = 0
  /** Called at each call, before its effect (0.5 less) and after it. Throws or kills. */
  onCall: (at: number) => void = () => {}
  isDead = false
  /** True: calls fail. */
  isDown = false

  constructor(contents: SharedContents) {
    this.#contents = contents
  }

  kill(): void {
    this.isDead = true
    for (const listener of this.#own) this.#contents.listeners.delete(listener)
  }

  append(entry: LogEntry, afterSeq: number): Promise<number | null> {
    return this.#call(() => {
      if (this.#contents.entries.length !== afterSeq) return null
      this.#contents.entries.push({ ...entry, seq: afterSeq + 1 })
      this.#contents.notify('entries')
      return afterSeq + 1
    })
  }

  entriesAfter(seq: number, limit: number): Promise<NumberedEntry[]> {
    return this.#call(() => this.#contents.entries.slice(seq, seq + limit))
  }

  async missingChunks(): Promise<string[]> {
    return []
  }

  async putChunks(chunks: ReadonlyMap<string, Buffer>): Promise<void> {
    for (const bytes of chunks.values()) this.#contents.chunks.set(chunkDigest(bytes), bytes)
  }

  async getChunk(digest: string): Promise<Buffer | null> {
    return this.#contents.chunks.get(digest) ?? null
  }

  async putManifest(digest: string, manifest: Manifest): Promise<void> {
    this.#contents.manifests.set(digest, manifest)
  }

  getManifest(digest: string): Promise<Manifest | null> {
    return this.#call(() => this.#contents.manifests.get(digest) ?? null)
  }

  async collectGarbage(): Promise<number> {
    return 0
  }

  report(controller: string, members: readonly MemberReport[]): Promise<void> {
    return this.#call(() => {
      const { nowMs } = this.#contents
      this.#contents.controllers.set(controller, nowMs)
      for (const report of members) this.#contents.members.set(report.member, { report, atMs: nowMs })
      this.#contents.notify('reports')
    })
  }

  reports(): Promise<Reports> {
    return this.#call(() => {
      const { nowMs, controllers, members } = this.#contents
      return {
        controllers: new Map([...controllers].map(([id, atMs]) => [id, nowMs - atMs])),
        members: [...members.values()].map(({ report, atMs }) => ({ ...report, ageMs: nowMs - atMs })),
      }
    })
  }

  async forgetMember(): Promise<void> {}

  watch(listener: (change: StoreChange) => void): () => void {
    this.#own.add(listener)
    this.#contents.listeners.add(listener)
    return () => this.#contents.listeners.delete(listener)
  }

  async close(): Promise<void> {}

  async #call<T>(effect: () => T): Promise<T> {
    const at = ++this.calls
    if (this.isDead) return NEVER
    if (this.isDown) throw new Error('the store is down')
    this.onCall(at - 0.5)
    if (this.isDead) return NEVER
    const result = effect()
    this.onCall(at)
    return this.isDead ? NEVER : result
  }
}
