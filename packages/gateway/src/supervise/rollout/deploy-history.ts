import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DocumentSource } from '@sluice/config'
import { makeFolders, rolledBackContents, writePrivateFile } from '@sluice/core'

/** Source of a document. */
export type Origin = 'file' | 'api' | 'last-good' | 'control'

/** A document that became active. */
export interface Deploy {
  readonly id: string
  /** Deployment time, ISO 8601. */
  readonly at: string
  readonly digest: string
  readonly origin: Origin
  /** Caller: a token's id, a signal, or `file`. */
  readonly actor: string
  readonly note: string
  /** Id of the deploy whose document was applied again; absent unless it was a rollback. */
  readonly rollbackTo?: string
}

/** A deploy that a rollback goes to. */
export interface RollbackTarget extends StoredDeploy {
  /** True if a rollback has replaced its document. Only a rollback that names its id goes there. */
  readonly wasRolledBack: boolean
}

/** A deploy with its document. References are stored as names, not values. */
export interface StoredDeploy extends Deploy {
  readonly name: string
  readonly text: string
}

/** Number of deploys kept. With documents of at most 4 MB, the directory stays below 80 MB. */
export const MAX_DEPLOYS = 20

/** The most recent deploys, one private file each. The documents are read from disk only for a rollback. */
export class DeployHistory {
  readonly #dir: string
  /** Deploys, oldest first. */
  #deploys: Deploy[]

  constructor(dataDir: string) {
    this.#dir = join(dataDir, 'deploys')
    this.#deploys = this.#scan()
  }

  /** Returns the deploys, newest first. */
  list(): readonly Deploy[] {
    return this.#deploys.toReversed()
  }

  /** Adds a deploy and deletes the oldest beyond the limit. @throws Error of the file system. */
  record(deploy: Omit<Deploy, 'id'>, source: DocumentSource): Deploy {
    const id = String(Number(this.#deploys.at(-1)?.id ?? 0) + 1)
    const recorded: Deploy = { id, ...deploy }
    writePrivateFile(this.#path(id), `${JSON.stringify({ ...recorded, ...source })}\n`)
    this.#deploys.push(recorded)
    while (this.#deploys.length > MAX_DEPLOYS) rmSync(this.#path(this.#deploys.shift()!.id), { force: true })
    return recorded
  }

  /** Returns the deploy with the id, or null. */
  find(id: string): StoredDeploy | null {
    return this.#deploys.some((deploy) => deploy.id === id) ? this.#read(this.#path(id)) : null
  }

  /**
   * Returns the deploy with the id, or without an id the newest one that differs from the active document and was not
   * rolled back. Null if there is none.
   */
  rollbackTarget(id: string | null, servingDigest: string | null): RollbackTarget | null {
    const rolledBack = rolledBackContents(
      this.#deploys.map(({ digest, rollbackTo }) => ({
        content: digest,
        isRollback: rollbackTo !== undefined,
      })),
    )
    const wanted = this.#deploys.findLast((deploy) =>
      id === null ? deploy.digest !== servingDigest && !rolledBack.has(deploy.digest) : deploy.id === id,
    )
    const stored = wanted === undefined ? null : this.find(wanted.id)
    return stored === null ? null : { ...stored, wasRolledBack: rolledBack.has(stored.digest) }
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

  /** Returns the deploy in a file, or null if the file is damaged or not a deploy. */
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
