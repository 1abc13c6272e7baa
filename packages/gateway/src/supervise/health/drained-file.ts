import { readFileSync } from 'node:fs'
import { writePrivateFile } from '@sluice/core'
import { documentFile } from '../documents/document-file.js'

/** A target drained by an operator. */
export interface DrainedTarget {
  readonly upstream: string
  readonly origin: string
}

/** `drained-*.json` in the data directory: a document's drained targets, kept across restarts. */
export class DrainedFile {
  readonly #path: string
  #saved = '[]'

  /** @param document path of the document; several gateways may share a data directory. */
  constructor(dataDir: string, document: string) {
    this.#path = documentFile(dataDir, 'drained', document)
  }

  /** Returns the drained targets, or an empty list if the file is missing or invalid. */
  read(): readonly DrainedTarget[] {
    try {
      const targets: unknown = JSON.parse(readFileSync(this.#path, 'utf8'))
      if (!Array.isArray(targets) || !targets.every(isTarget)) return []
      this.#saved = JSON.stringify(targets)
      return targets
    } catch {
      return []
    }
  }

  /** Writes the drained targets, unless they are unchanged. @throws Error of the file system. */
  save(targets: readonly DrainedTarget[]): void {
    const text = JSON.stringify(targets.map(({ upstream, origin }) => ({ upstream, origin })))
    if (text === this.#saved) return
    writePrivateFile(this.#path, text)
    this.#saved = text
  }
}

function isTarget(value: unknown): value is DrainedTarget {
  const { upstream, origin } = Object(value) as Partial<DrainedTarget>
  return typeof upstream === 'string' && typeof origin === 'string'
}
