import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivateFile } from '@sluice/core'

/** The most recently active document, as text. Its references are names, so no secret value is on disk. */
export interface LastGood {
  readonly digest: string
  readonly name: string
  readonly text: string
}

/**
 * Stores the active document for a start with a broken document. The file is tied to the document that the
 * gateway was started with, even after API deploys: a gateway started with another document in the same data
 * directory must not inherit these listeners and keys.
 */
export class LastGoodFile {
  readonly path: string
  /** Path of the document that this gateway was started with. */
  startedWith = ''

  constructor(dataDir: string) {
    this.path = join(dataDir, 'last-good.json')
  }

  /** Writes the document. @throws Error of the file system. */
  save(last: LastGood): void {
    writePrivateFile(this.path, `${JSON.stringify({ version: 1, startedWith: this.startedWith, ...last })}\n`)
  }

  /**
   * Returns the stored document. Null if there is none, it belongs to another document, or the file is
   * damaged.
   */
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
