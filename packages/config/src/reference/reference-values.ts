import { dirname, isAbsolute, resolve } from 'node:path'
import { type Issue, isIssue } from '../diagnostic/issue.js'
import type { ReadFile } from '../file/text-file.js'
import { parseTemplate, type Reference } from '../template/text-template.js'

/** Maximum size of a referenced file, in bytes. */
const MAX_FILE_BYTES = 64 * 1024

/** Sources of reference values. */
interface ReferenceOrigins {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile: ReadFile
  /** Values of references to Vault by reference. Absent: this process does not read Vault. */
  readonly secrets?: VaultValues
  /** Path of the document; relative files are looked up in its folder. */
  readonly documentName: string
}

/** Values of references to Vault, or the reasons why they could not be read, by reference. */
export type VaultValues = ReadonlyMap<string, string | Issue>

/** Looks up the values of references, each only once. */
export class ReferenceValues {
  readonly #origins: ReferenceOrigins
  readonly #known = new Map<string, string | Issue>()

  constructor(origins: ReferenceOrigins) {
    this.#origins = origins
  }

  /** Absolute path of the folder of the document. */
  get folder(): string {
    return resolve(dirname(this.#origins.documentName))
  }

  of(reference: Reference): string | Issue {
    const known = this.#known.get(reference.text)
    if (known !== undefined) return known
    const read = this.#read(reference)
    const found = typeof read === 'string' ? withPemLines(read) : read
    this.#known.set(reference.text, found)
    return found
  }

  /** True if the value of a reference is unknown because this process does not read Vault. */
  isUnread({ kind }: Reference): boolean {
    return kind === 'vault' && this.#origins.secrets === undefined
  }

  /** Returns a string with its references resolved, or null if one is invalid or has no value. */
  textOf(text: string): string | null {
    const template = parseTemplate(text)
    if (isIssue(template)) return null
    const parts = template.map((part) => (typeof part === 'string' ? part : this.of(part)))
    return parts.some(isIssue) ? null : parts.join('')
  }

  #read(reference: Reference): string | Issue {
    if (reference.kind === 'env') return this.#ofEnv(reference)
    return reference.kind === 'file' ? this.#ofFile(reference) : this.#ofVault(reference)
  }

  /** Looks up a secret. An unread one stands for itself. */
  #ofVault({ text }: Reference): string | Issue {
    const { secrets } = this.#origins
    if (secrets === undefined) return text
    return (
      secrets.get(text) ?? {
        message: `${text} was not read from Vault`,
        remedy: 'write the reference without YAML escapes',
      }
    )
  }

  /** Looks up a variable. As in a shell, the default also applies to an empty variable. */
  #ofEnv({ name, text, fallback }: Reference): string | Issue {
    const value = Object.hasOwn(this.#origins.env, name) ? this.#origins.env[name] : undefined
    if (value !== undefined && (value !== '' || fallback === null)) return value
    if (fallback !== null) return fallback
    return {
      message: `the environment variable '${name}' is not set`,
      remedy: `set it, add a default as in \${env:${name}:-default}, or replace ${text}`,
      ofMachine: true,
    }
  }

  #ofFile({ name, text }: Reference): string | Issue {
    try {
      const content = this.#origins.readFile(resolve(this.folder, name))
      if (Buffer.byteLength(content) > MAX_FILE_BYTES) throw new Error('it is larger than 64 KB')
      return content.replace(/\r?\n$/, '')
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      return {
        message: `the file of ${text} cannot be read: ${reason}`,
        remedy: name.includes(':-')
          ? 'only ${env:NAME:-default} supports a default'
          : isAbsolute(name)
            ? 'check the file and its path'
            : 'check the file and its path, which is relative to the folder of the document',
        ofMachine: true,
      }
    }
  }
}

/** Matches the first line of a PEM that ends with a literal `\n`. */
const ESCAPED_PEM = /^\s*-----BEGIN [A-Z0-9 ]{1,40}-----(?:\\r)?\\n/

/**
 * Restores line breaks in a PEM. Many tools store a PEM on one line with a literal `\n`; base64 contains no
 * backslash, so this is unambiguous.
 */
function withPemLines(text: string): string {
  return ESCAPED_PEM.test(text) ? text.replaceAll('\\r', '').replaceAll('\\n', '\n') : text
}
