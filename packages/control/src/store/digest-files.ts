import { randomUUID } from 'node:crypto'
import { type FileHandle, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolders } from '@sluice/core'

const TEMPORARY = '.tmp'

/** Files in a folder that are named by a digest: `ab/abcd….` They appear complete or not at all. */
export class DigestFiles {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
    makeFolders(folder)
  }

  /** Writes a file, and its name, to the disk. */
  async put(digest: string, content: Uint8Array): Promise<void> {
    const path = this.#path(digest)
    const parent = join(this.#folder, digest.slice(0, 2))
    makeFolders(parent)
    const temporary = `${path}.${randomUUID()}${TEMPORARY}`
    try {
      await withFile(temporary, 'wx', async (file) => {
        await file.writeFile(content)
        await file.datasync()
      })
      await rename(temporary, path)
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {})
      throw error
    }
    await withFile(parent, 'r', (folder) => folder.sync())
  }

  async get(digest: string): Promise<Buffer | null> {
    return readFile(this.#path(digest)).catch(nullIfAbsent)
  }

  /** Returns true if the file exists. Sets its age to zero. */
  async refresh(digest: string): Promise<boolean> {
    const now = new Date()
    return (await utimes(this.#path(digest), now, now).catch(nullIfAbsent)) !== null
  }

  /** Deletes the files for which the function returns false and that are old enough. Returns their number. */
  async retain(isKept: (digest: string) => boolean, minAgeMs: number): Promise<number> {
    let deleted = 0
    for (const [path, name] of await this.#list()) {
      if (isKept(name)) continue
      const stats = await stat(path).catch(nullIfAbsent)
      if (stats === null || Date.now() - stats.mtimeMs < minAgeMs) continue
      await rm(path, { force: true })
      deleted++
    }
    return deleted
  }

  /** Returns the digests of files younger than an age. */
  async youngerThan(ageMs: number): Promise<string[]> {
    const young: string[] = []
    for (const [path, name] of await this.#list()) {
      const stats = await stat(path).catch(nullIfAbsent)
      if (stats !== null && Date.now() - stats.mtimeMs < ageMs) young.push(name)
    }
    return young
  }

  /** Returns paths and names of all files, also of interrupted writes. */
  async #list(): Promise<[string, string][]> {
    const entries = await readdir(this.#folder, { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [join(parentPath, name), name])
  }

  #path(digest: string): string {
    return join(this.#folder, digest.slice(0, 2), digest)
  }
}

async function withFile<T>(path: string, flags: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, flags, 0o600)
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

function nullIfAbsent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
