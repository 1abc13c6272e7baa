import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivateFile } from './private-file.js'

/** The document that served last, as text: its references are names, so no value of a secret is on disk. */
export interface LastGood {
  readonly digest: string
  readonly name: string
  readonly text: string
}

/**
 * Where the gateway keeps what served last, for a start with a document that is broken. It belongs to the document that
 * the gateway was started with, also when another one was deployed since: whoever starts with another one, and the same
 * data directory, must not get the listeners and keys of this one.
 */
export class LastGoodFile {
  readonly path: string
  /** The document of this start. */
  startedWith = ''

  constructor(dataDir: string) {
    this.path = join(dataDir, 'last-good.json')
  }

  /** @throws Error of the file system. */
  save(last: LastGood): void {
    writePrivateFile(this.path, `${JSON.stringify({ version: 1, startedWith: this.startedWith, ...last })}\n`)
  }

  /** What served last; null when nothing did, a gateway of another document did, or the file is not one of ours. */
  read(): LastGood | null {
    try {
      const saved = JSON.parse(readFileSync(this.path, 'utf8')) as Partial<LastGood & { startedWith: string }>
      const { digest, name, text } = saved
      const isWhole = typeof digest === 'string' && typeof name === 'string' && typeof text === 'string'
      return isWhole && saved.startedWith === this.startedWith ? { digest, name, text } : null
    } catch {
      return null
    }
  }
}
