import { readFileSync } from 'node:fs'
import { documentFile } from '../document-file.js'
import { writePrivateFile } from '../private-file.js'

/** A target that an operator has drained. */
export interface DrainedTarget {
  readonly upstream: string
  readonly origin: string
}

/** `drained-*.json` in the data directory: the targets of a document that are drained, also for the next supervisor. */
export class DrainedFile {
  readonly #path: string
  #saved = '[]'

  /** @param document its path; several gateways may share a data directory. */
  constructor(dataDir: string, document: string) {
    this.#path = documentFile(dataDir, 'drained', document)
  }

  /** None when there is no such file, or it is not one of ours. */
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

  /** Nothing is written when it is as before. @throws Error of the file system. */
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
