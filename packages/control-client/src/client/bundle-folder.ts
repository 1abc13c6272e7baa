import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolders, syncDirectory, writePrivateFile } from '@sluice/core'
import { chunkDigest, chunksOf } from '../manifest/chunks.js'
import { DOCUMENT_PATH, type Manifest, manifestDigest, manifestProblem } from '../manifest/manifest.js'
import { writeFiles } from './write-files.js'

/** The active bundle of a gateway. */
export interface ActiveBundle {
  /** Id of the controller's store. */
  readonly store: string
  readonly group: string
  readonly deploy: number
  /** Digest of the manifest. */
  readonly digest: string
  /** Digest of the bundle that was active before, or null. */
  readonly previous: string | null
  readonly note: string
  readonly actor: string
}

/** Position of a chunk on the disk. */
interface ChunkPlace {
  readonly path: string
  readonly offset: number
  readonly length: number
}

/** Its name starts with a dot, so that no file of a bundle has this name. */
const MANIFEST_FILE = '.manifest.json'
const PART = '.part'
const DIGEST = /^[0-9a-f]{64}$/
const UUID = /^[0-9a-f-]{36}$/

/**
 * Bundles on the disk of a gateway. The active and the previous bundle are kept.
 * ```
 * control/member              id of this gateway
 * control/active.json         pointer to the active bundle; active.json.next: that of the prepared one
 * control/bundles/DIGEST/     files of a bundle, and .manifest.json
 * control/bundles/.part/      a bundle that is being written
 * ```
 */
export class BundleFolder {
  /** Id of this gateway. It never changes. */
  readonly member: string
  readonly #root: string
  #active: ActiveBundle | null
  #staged: ActiveBundle | null = null
  /** Chunks on the disk by the digest of their bundle. */
  readonly #places = new Map<string, ReadonlyMap<string, ChunkPlace>>()

  /** @param root folder of this class alone. @throws Error of the file system */
  constructor(root: string) {
    this.#root = root
    makeFolders(join(root, 'bundles'))
    this.member = memberId(join(root, 'member'))
    this.#active = storedPointer(join(root, 'active.json'))
    rmSync(join(root, 'bundles', PART), { recursive: true, force: true })
    this.#prune()
  }

  get active(): ActiveBundle | null {
    return this.#active
  }

  /** Returns the path of a bundle's document. */
  documentPath(digest: string): string {
    return join(this.#folder(digest), DOCUMENT_PATH)
  }

  /** True if all files of a bundle are on the disk and undamaged. */
  isWhole(digest: string): boolean {
    try {
      const folder = this.#folder(digest)
      const manifest = JSON.parse(readFileSync(join(folder, MANIFEST_FILE), 'utf8')) as Manifest
      if (manifestProblem(manifest) !== null || manifestDigest(manifest) !== digest) return false
      return manifest.files.every(({ path, chunks }) => {
        const found = chunksOf(readFileSync(join(folder, path)))
        return found.length === chunks.length && found.every((chunk, i) => chunk.digest === chunks[i])
      })
    } catch {
      return false
    }
  }

  /** Returns the digests of the chunks of a bundle that are not on the disk. */
  missingChunks({ files }: Manifest): string[] {
    const known = this.#knownChunks()
    const all = new Set(files.flatMap(({ chunks }) => chunks))
    return [...all].filter((digest) => !known.has(digest))
  }

  /**
   * Writes a bundle to the disk. Other chunks than the received ones are copied from bundles on the disk.
   * @throws Error if a chunk is missing or damaged, or if the disk is full. Nothing has changed then
   */
  async place(manifest: Manifest, received: ReadonlyMap<string, Buffer>): Promise<void> {
    const problem = manifestProblem(manifest)
    if (problem !== null) throw new Error(problem)
    const digest = manifestDigest(manifest)
    if (this.isWhole(digest)) return
    const part = join(this.#root, 'bundles', PART)
    rmSync(part, { recursive: true, force: true })
    try {
      const source = new ChunkSource(this.#knownChunks(), received)
      await writeFiles(part, [
        ...manifest.files.map(({ path, size, chunks }) => ({
          path,
          content: () => source.fileOf(path, size, chunks),
        })),
        { path: MANIFEST_FILE, content: () => Buffer.from(JSON.stringify(manifest)) },
      ])
      rmSync(this.#folder(digest), { recursive: true, force: true })
      renameSync(part, this.#folder(digest))
      syncDirectory(join(this.#root, 'bundles'))
    } catch (error) {
      // The chunks on the disk may have been damaged after they were read.
      this.#places.clear()
      rmSync(part, { recursive: true, force: true })
      throw error
    }
  }

  /** Writes the pointer to a bundle beside the active one, so that `commit` needs no disk space. @throws Error of the file system */
  stage(next: Omit<ActiveBundle, 'previous'>): void {
    const { digest = null, previous = null } = this.#active ?? {}
    const staged = { ...next, previous: digest === next.digest ? previous : digest }
    writePrivateFile(join(this.#root, 'active.json.next'), `${JSON.stringify({ version: 1, ...staged })}\n`)
    this.#staged = staged
  }

  /** Makes the bundle of a deploy the active one. @throws Error if it is not the last staged one, or of the file system */
  commit(deploy: number): void {
    if (this.#staged?.deploy !== deploy) throw new Error('another deploy has taken the place of this one')
    renameSync(join(this.#root, 'active.json.next'), join(this.#root, 'active.json'))
    this.#active = this.#staged
    this.#staged = null
    try {
      syncDirectory(this.#root)
      this.#prune()
    } catch {
      // The bundle is active. The next start or activation tidies up.
    }
  }

  #folder(digest: string): string {
    return join(this.#root, 'bundles', digest)
  }

  get #kept(): string[] {
    const all = [this.#active?.digest, this.#active?.previous, this.#staged?.digest]
    return all.filter((digest) => typeof digest === 'string')
  }

  /** Deletes the bundles that are not kept. */
  #prune(): void {
    const kept = new Set([...this.#kept, PART])
    for (const name of readdirSync(join(this.#root, 'bundles'))) {
      if (kept.has(name)) continue
      this.#places.delete(name)
      rmSync(this.#folder(name), { recursive: true, force: true })
    }
  }

  #knownChunks(): ReadonlyMap<string, ChunkPlace> {
    const all = new Map<string, ChunkPlace>()
    for (const digest of this.#kept) {
      const places = this.#places.get(digest) ?? placesIn(this.#folder(digest))
      this.#places.set(digest, places)
      for (const [chunk, place] of places) all.set(chunk, place)
    }
    return all
  }
}

/** Puts files together from received chunks and chunks on the disk. */
class ChunkSource {
  readonly #known: ReadonlyMap<string, ChunkPlace>
  readonly #received: ReadonlyMap<string, Buffer>
  /** The file read last. Neighbouring chunks mostly come from the same file. */
  #file: { readonly path: string; readonly content: Buffer } | null = null

  constructor(known: ReadonlyMap<string, ChunkPlace>, received: ReadonlyMap<string, Buffer>) {
    this.#known = known
    this.#received = received
  }

  /** @throws Error if a chunk is missing or damaged, or the size is wrong */
  fileOf(path: string, size: number, chunks: readonly string[]): Buffer {
    const content = Buffer.concat(chunks.map((digest) => this.#chunk(digest)))
    if (content.length === size) return content
    throw new Error(`the file '${path}' has ${content.length} bytes in place of ${size}`)
  }

  #chunk(digest: string): Buffer {
    const bytes = this.#received.get(digest) ?? this.#stored(digest)
    if (bytes === null || chunkDigest(bytes) !== digest)
      throw new Error(`the chunk ${digest} is missing or damaged`)
    return bytes
  }

  #stored(digest: string): Buffer | null {
    const place = this.#known.get(digest)
    if (place === undefined) return null
    const { path, offset, length } = place
    if (this.#file?.path !== path) this.#file = { path, content: readFileSync(path) }
    return this.#file.content.subarray(offset, offset + length)
  }
}

/** Returns the chunks of the files in a bundle's folder. Files that cannot be read have none. */
function placesIn(folder: string): ReadonlyMap<string, ChunkPlace> {
  const places = new Map<string, ChunkPlace>()
  if (!existsSync(folder)) return places
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name === MANIFEST_FILE) continue
    const path = join(entry.parentPath, entry.name)
    let offset = 0
    for (const { digest, bytes } of chunksOf(readFileSync(path))) {
      places.set(digest, { path, offset, length: bytes.length })
      offset += bytes.length
    }
  }
  return places
}

function memberId(path: string): string {
  if (existsSync(path)) {
    const stored = readFileSync(path, 'utf8').trim()
    if (UUID.test(stored)) return stored
  }
  const id = randomUUID()
  writePrivateFile(path, `${id}\n`)
  return id
}

/** Returns the stored pointer, or null if there is none or it is damaged. */
function storedPointer(path: string): ActiveBundle | null {
  try {
    const { version, ...stored } = JSON.parse(readFileSync(path, 'utf8')) as ActiveBundle & {
      version: number
    }
    const { store, group, deploy, digest, previous, note, actor } = stored
    const isValid =
      version === 1 &&
      UUID.test(store) &&
      Number.isSafeInteger(deploy) &&
      DIGEST.test(digest) &&
      (previous === null || DIGEST.test(previous)) &&
      [group, note, actor].every((text) => typeof text === 'string')
    return isValid ? { store, group, deploy, digest, previous, note, actor } : null
  } catch {
    return null
  }
}
