import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivateFile } from './private-file.js'

/** The document that served last, as text: its references are names, so no value of a secret is on disk. */
export interface LastGood {
  readonly digest: string
  readonly name: string
  readonly text: string
}

/** Where the gateway keeps what served last, for a start with a document that is broken. */
export class LastGoodFile {
  readonly path: string

  constructor(dataDir: string) {
    this.path = join(dataDir, 'last-good.json')
  }

  /** @throws Error of the file system. */
  save(last: LastGood): void {
    writePrivateFile(this.path, `${JSON.stringify({ version: 1, ...last })}\n`)
  }

  /** What served last; null when nothing did or the file is not one of ours. */
  read(): LastGood | null {
    try {
      const { digest, name, text } = JSON.parse(readFileSync(this.path, 'utf8')) as Partial<LastGood>
      const isWhole = typeof digest === 'string' && typeof name === 'string' && typeof text === 'string'
      return isWhole ? { digest, name, text } : null
    } catch {
      return null
    }
  }
}
