import { dirname, isAbsolute, resolve } from 'node:path'
import type { Flaw } from '../flaw.js'
import type { ReadFile } from '../text-file.js'
import type { Reference } from './text-template.js'

/** Longest content of a referenced file, in bytes. */
const MAX_FILE_BYTES = 64 * 1024

/** Where references take their values from. */
interface ReferenceOrigins {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile: ReadFile
  /** Name of the document; relative files are looked up beside it. */
  readonly documentName: string
}

/** The values of references, each looked up once. */
export class ReferenceValues {
  readonly #origins: ReferenceOrigins
  readonly #known = new Map<string, string | Flaw>()

  constructor(origins: ReferenceOrigins) {
    this.#origins = origins
  }

  /** Whether any reference was looked up. */
  get areNeeded(): boolean {
    return this.#known.size > 0
  }

  /** The value, or what to tell the operator when there is none. */
  of(reference: Reference): string | Flaw {
    const known = this.#known.get(reference.text)
    if (known !== undefined) return known
    const found = reference.kind === 'env' ? this.#ofEnv(reference) : this.#ofFile(reference)
    this.#known.set(reference.text, found)
    return found
  }

  #ofEnv({ name, text }: Reference): string | Flaw {
    const value = Object.hasOwn(this.#origins.env, name) ? this.#origins.env[name] : undefined
    if (value !== undefined) return value
    return {
      message: `the environment variable '${name}' is not set`,
      remedy: `set it, or replace ${text}`,
      ofMachine: true,
    }
  }

  #ofFile({ name, text }: Reference): string | Flaw {
    try {
      const content = this.#origins.readFile(resolve(dirname(this.#origins.documentName), name))
      if (Buffer.byteLength(content) > MAX_FILE_BYTES) throw new Error('it is larger than 64 KB')
      return content.replace(/\r?\n$/, '')
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      return {
        message: `the file of ${text} cannot be read: ${reason}`,
        remedy: isAbsolute(name)
          ? 'correct the path or the file'
          : 'correct the path, which is relative to the folder of the document, or the file',
        ofMachine: true,
      }
    }
  }
}
