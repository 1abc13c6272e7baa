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

  /** The folder of the document, absolute. */
  get folder(): string {
    return resolve(dirname(this.#origins.documentName))
  }

  /** The value, or what to say when there is none. */
  of(reference: Reference): string | Flaw {
    const known = this.#known.get(reference.text)
    if (known !== undefined) return known
    const read = reference.kind === 'env' ? this.#ofEnv(reference) : this.#ofFile(reference)
    const found = typeof read === 'string' ? withPemLines(read) : read
    this.#known.set(reference.text, found)
    return found
  }

  /** As in a shell, a variable that is empty takes the default too. */
  #ofEnv({ name, text, fallback }: Reference): string | Flaw {
    const value = Object.hasOwn(this.#origins.env, name) ? this.#origins.env[name] : undefined
    if (value !== undefined && (value !== '' || fallback === null)) return value
    if (fallback !== null) return fallback
    return {
      message: `the environment variable '${name}' is not set`,
      remedy: `set it, write a default as in \${env:${name}:-default}, or replace ${text}`,
      ofMachine: true,
    }
  }

  #ofFile({ name, text }: Reference): string | Flaw {
    try {
      const content = this.#origins.readFile(resolve(this.folder, name))
      if (Buffer.byteLength(content) > MAX_FILE_BYTES) throw new Error('it is larger than 64 KB')
      return content.replace(/\r?\n$/, '')
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      return {
        message: `the file of ${text} cannot be read: ${reason}`,
        remedy: name.includes(':-')
          ? 'only ${env:NAME:-default} has a default'
          : isAbsolute(name)
            ? 'correct the path or the file'
            : 'correct the path, which is relative to the folder of the document, or the file',
        ofMachine: true,
      }
    }
  }
}

/** The first line of a PEM, which ends with a backslash and an `n`. */
const ESCAPED_PEM = /^\s*-----BEGIN [A-Z0-9 ]{1,40}-----(?:\\r)?\\n/

/** Many tools keep a PEM in one line, with `\n` as two characters; base64 has no backslash, so that nothing else is meant. */
function withPemLines(text: string): string {
  return ESCAPED_PEM.test(text) ? text.replaceAll('\\r', '').replaceAll('\\n', '\n') : text
}
