import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** A file to write. */
export interface NewFile {
  /** Path below the folder. */
  readonly path: string
  readonly content: () => Buffer
}

/** Number of files written at the same time: several syncs together cost little more than one. */
const AT_ONCE = 8

/** Writes files to a new folder, readable only by their owner. All are on the disk when it resolves. @throws Error of the file system */
export async function writeFiles(folder: string, files: readonly NewFile[]): Promise<void> {
  const folders = new Set([folder])
  for (const { path } of files)
    for (let parent = dirname(path); parent !== '.'; parent = dirname(parent))
      folders.add(join(folder, parent))
  for (const each of [...folders].sort()) await mkdir(each, { mode: 0o700 })
  for (let i = 0; i < files.length; i += AT_ONCE)
    await Promise.all(
      files.slice(i, i + AT_ONCE).map((file) => writeFile(join(folder, file.path), file.content())),
    )
  for (const each of folders) await syncFolder(each)
}

async function writeFile(path: string, content: Buffer): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
