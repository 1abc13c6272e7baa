import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DocumentSource } from '@sluice/config'
import { makeFolders } from '@sluice/core'
import { writePrivateFile } from './private-file.js'

/** Where a document came from. */
export type Origin = 'file' | 'api' | 'last-good'

/** One document that went into service. */
export interface Deploy {
  readonly id: string
  /** ISO 8601. */
  readonly at: string
  readonly digest: string
  readonly origin: Origin
  /** Who: a token's id, a signal, `file`. */
  readonly actor: string
  readonly note: string
}

/** A deploy with its document; references stay names. */
export interface StoredDeploy extends Deploy {
  readonly name: string
  readonly text: string
}

/** Deploys kept; with documents of 4 MB at most, that bounds the directory to 80 MB. */
export const MAX_DEPLOYS = 20

/** The last deploys, one private file each. The documents stay on disk until one is rolled back to. */
export class DeployHistory {
  readonly #dir: string
  /** Oldest first. */
  #deploys: Deploy[]

  constructor(dataDir: string) {
    this.#dir = join(dataDir, 'deploys')
    this.#deploys = this.#scan()
  }

  /** Newest first. */
  list(): readonly Deploy[] {
    return this.#deploys.toReversed()
  }

  /** Adds a deploy and forgets the oldest beyond the bound. @throws Error of the file system. */
  record(deploy: Omit<Deploy, 'id'>, source: DocumentSource): Deploy {
    const id = String(Number(this.#deploys.at(-1)?.id ?? 0) + 1)
    const recorded: Deploy = { id, ...deploy }
    writePrivateFile(this.#path(id), `${JSON.stringify({ ...recorded, ...source })}\n`)
    this.#deploys.push(recorded)
    while (this.#deploys.length > MAX_DEPLOYS) {
      rmSync(this.#path(this.#deploys.shift()!.id), { force: true })
    }
    return recorded
  }

  /** A deploy by its id, or the newest that differs from what serves; null when there is none. */
  find(options: { readonly id: string | null; readonly servingDigest: string | null }): StoredDeploy | null {
    const isWanted = (deploy: Deploy): boolean =>
      options.id === null ? deploy.digest !== options.servingDigest : deploy.id === options.id
    const found = this.#deploys.findLast(isWanted)
    return found === undefined ? null : this.#read(this.#path(found.id))
  }

  #path(id: string): string {
    return join(this.#dir, `${id.padStart(8, '0')}.json`)
  }

  #scan(): Deploy[] {
    try {
      makeFolders(this.#dir)
      const names = readdirSync(this.#dir).filter((name) => /^\d{8}\.json$/.test(name))
      const stored = names
        .sort()
        .slice(-MAX_DEPLOYS)
        .map((name) => this.#read(join(this.#dir, name)))
      return stored.filter((deploy) => deploy !== null).map(({ name, text, ...deploy }) => deploy)
    } catch {
      return []
    }
  }

  /** A file that is broken or foreign is no deploy. */
  #read(path: string): StoredDeploy | null {
    try {
      const stored = JSON.parse(readFileSync(path, 'utf8')) as StoredDeploy
      const isWhole = [stored.id, stored.digest, stored.name, stored.text].every(
        (part) => typeof part === 'string',
      )
      return isWhole ? stored : null
    } catch {
      return null
    }
  }
}
