import { randomUUID } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chunkDigest, type Manifest, manifestDigest } from '@sluice/control-client'
import { makeFolders } from '@sluice/core'
import {
  type ControlStore,
  MEMBER_MEMORY_MS,
  type MemberReport,
  type Reports,
  type StoreChange,
} from './control-store.js'
import { DigestFiles } from './digest-files.js'
import { lockFolder } from './folder-lock.js'
import { Journal } from './journal.js'
import type { LogEntry, NumberedEntry } from './log-entry.js'

/** Interval for writing the reports to the disk, in milliseconds. */
const REPORTS_MS = 5000
const MEMBERS_FILE = 'members.json'

interface SeenMember {
  readonly report: MemberReport
  readonly seenAtMs: number
}

/**
 * Store in a folder, for one controller.
 * ```
 * store.json       id of the store
 * journal.ndjson   log
 * chunks/ab/ab…    chunks
 * manifests/cd/cd… manifests
 * members.json     reports of members, at most 5 s old
 * lock             socket of the running controller
 * ```
 */
export class FolderStore implements ControlStore {
  readonly id: string
  readonly #folder: string
  readonly #journal: Journal
  readonly #unlock: () => Promise<void>
  readonly #chunks: DigestFiles
  readonly #manifests: DigestFiles
  readonly #members: Map<string, SeenMember>
  readonly #controllers = new Map<string, number>()
  readonly #listeners = new Set<(change: StoreChange) => void>()
  readonly #timer: NodeJS.Timeout
  #appending: Promise<unknown> = Promise.resolve()
  #areReportsDirty = false

  private constructor(folder: string, parts: Parts) {
    this.id = parts.id
    this.#folder = folder
    this.#journal = parts.journal
    this.#unlock = parts.unlock
    this.#members = parts.members
    this.#chunks = new DigestFiles(join(folder, 'chunks'))
    this.#manifests = new DigestFiles(join(folder, 'manifests'))
    this.#timer = setInterval(() => void this.#writeReports().catch(() => {}), REPORTS_MS).unref()
  }

  /** Opens or creates a store. @throws Error if another process uses the folder, or its journal is damaged */
  static async open(folder: string): Promise<FolderStore> {
    makeFolders(folder)
    const unlock = await lockFolder(folder)
    try {
      const id = await storeId(join(folder, 'store.json'))
      const members = await readMembers(join(folder, MEMBERS_FILE))
      const journal = await Journal.open(join(folder, 'journal.ndjson'))
      return new FolderStore(folder, { id, members, journal, unlock })
    } catch (error) {
      await unlock()
      throw error
    }
  }

  append(entry: LogEntry, afterSeq: number): Promise<number | null> {
    const appended = this.#appending.then(async () => {
      if (this.#journal.entries.length !== afterSeq) return null
      const seq = await this.#journal.append(entry)
      this.#notify('entries')
      return seq
    })
    this.#appending = appended.catch(() => {})
    return appended
  }

  async entriesAfter(seq: number, limit: number): Promise<NumberedEntry[]> {
    return this.#journal.entries.slice(seq, seq + limit)
  }

  async missingChunks(digests: readonly string[]): Promise<string[]> {
    const missing: string[] = []
    for (const digest of digests) if (!(await this.#chunks.refresh(digest))) missing.push(digest)
    return missing
  }

  async putChunks(chunks: ReadonlyMap<string, Buffer>): Promise<void> {
    for (const [digest, bytes] of chunks) await this.#chunks.put(digest, bytes)
  }

  async getChunk(digest: string): Promise<Buffer | null> {
    const bytes = await this.#chunks.get(digest)
    return bytes !== null && chunkDigest(bytes) === digest ? bytes : null
  }

  async putManifest(digest: string, manifest: Manifest): Promise<void> {
    await this.#manifests.put(digest, Buffer.from(JSON.stringify(manifest)))
  }

  async getManifest(digest: string): Promise<Manifest | null> {
    const text = await this.#manifests.get(digest)
    if (text === null) return null
    const manifest = JSON.parse(text.toString()) as Manifest
    return manifestDigest(manifest) === digest ? manifest : null
  }

  async collectGarbage(kept: ReadonlySet<string>, minAgeMs: number): Promise<number> {
    for (const [key, { seenAtMs }] of this.#members)
      if (Date.now() - seenAtMs > MEMBER_MEMORY_MS) this.#members.delete(key)
    const young = await this.#manifests.youngerThan(minAgeMs)
    const remaining = new Set([...kept, ...young])
    const reachable = new Set<string>()
    for (const digest of remaining) {
      const manifest = await this.getManifest(digest)
      for (const { chunks } of manifest?.files ?? []) for (const chunk of chunks) reachable.add(chunk)
    }
    await this.#manifests.retain((digest) => remaining.has(digest), minAgeMs)
    return this.#chunks.retain((digest) => reachable.has(digest), minAgeMs)
  }

  async report(controller: string, members: readonly MemberReport[]): Promise<void> {
    const seenAtMs = Date.now()
    this.#controllers.set(controller, seenAtMs)
    for (const report of members) this.#members.set(keyOf(report.group, report.member), { report, seenAtMs })
    if (members.length === 0) return
    this.#areReportsDirty = true
    this.#notify('reports')
  }

  async reports(): Promise<Reports> {
    const now = Date.now()
    return {
      controllers: new Map([...this.#controllers].map(([id, atMs]) => [id, Math.max(0, now - atMs)])),
      members: [...this.#members.values()].map(({ report, seenAtMs }) => ({
        ...report,
        ageMs: Math.max(0, now - seenAtMs),
      })),
    }
  }

  async forgetMember(group: string, member: string): Promise<void> {
    this.#members.delete(keyOf(group, member))
    this.#areReportsDirty = true
    this.#notify('reports')
  }

  watch(listener: (change: StoreChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#listeners.clear()
    await this.#appending
    await this.#writeReports().catch(() => {})
    await this.#journal.close()
    await this.#unlock()
  }

  #notify(change: StoreChange): void {
    for (const listener of this.#listeners) listener(change)
  }

  async #writeReports(): Promise<void> {
    if (!this.#areReportsDirty) return
    this.#areReportsDirty = false
    await replaceFile(join(this.#folder, MEMBERS_FILE), JSON.stringify([...this.#members.values()]))
  }
}

interface Parts {
  readonly id: string
  readonly members: Map<string, SeenMember>
  readonly journal: Journal
  readonly unlock: () => Promise<void>
}

async function storeId(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '')
  try {
    return (JSON.parse(text) as { readonly id: string }).id
  } catch {
    const id = randomUUID()
    await replaceFile(path, JSON.stringify({ version: 1, id }))
    return id
  }
}

/** Reads the reports of the previous process. Without them, members are unknown until they connect. */
async function readMembers(path: string): Promise<Map<string, SeenMember>> {
  try {
    const seen = JSON.parse(await readFile(path, 'utf8')) as SeenMember[]
    return new Map(
      seen.map(({ report, seenAtMs }) => [
        keyOf(report.group, report.member),
        { report: { ...report, isConnected: false }, seenAtMs },
      ]),
    )
  } catch {
    return new Map()
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.tmp`, text, { mode: 0o600, flush: true })
  await rename(`${path}.tmp`, path)
}

function keyOf(group: string, member: string): string {
  return `${group}/${member}`
}
