import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Only for who runs the load: a call may hold secrets, and the folder above may be open for passing through. */
const OWN = 0o600

/** The files of one load, in a folder of their own. */
export interface LoadFiles {
  /** Answers where it may stand; nothing is there yet. */
  path(name: string): string
  /** Answers where it is. */
  write(name: string, content: string | Buffer): string
}

/** Runs a load with files that are removed when it is over, however it ends. */
export async function withLoadFiles<T>(dir: string, load: (files: LoadFiles) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(dir, 'load-'))
  const path = (name: string): string => join(folder, name)
  const write = (name: string, content: string | Buffer): string => {
    writeFileSync(path(name), content, { mode: OWN })
    return path(name)
  }
  try {
    return await load({ path, write })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
