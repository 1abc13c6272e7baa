import { libxml } from '../../engines/xml/libxml.js'
import type { SchemaDocument } from './schema-documents.js'

/** Provides schema documents to libxml2 while a schema is compiled. */
export class SchemaProvider {
  readonly #documents: ReadonlyMap<string, Uint8Array>
  readonly #asked = new Set<string>()
  readonly #missing = new Set<string>()

  constructor(documents: readonly SchemaDocument[]) {
    this.#documents = new Map(documents.map(({ systemId, bytes }) => [systemId, bytes]))
  }

  /**
   * Runs a compilation with these documents. Nothing else may run meanwhile, because input providers are
   * global to the process.
   */
  during<T>(run: () => T): T {
    const { xmlRegisterInputProvider, xmlCleanupInputProvider, openBuffer, readBuffer, closeBuffer } =
      libxml()
    xmlRegisterInputProvider({
      match: () => true,
      open: (systemId) => {
        const bytes = this.#find(systemId)
        return bytes === undefined ? undefined : openBuffer(bytes)
      },
      read: readBuffer,
      close: (file) => {
        closeBuffer(file)
        return true
      },
    })
    try {
      return run()
    } finally {
      xmlCleanupInputProvider()
    }
  }

  #find(systemId: string): Uint8Array | undefined {
    const bytes = this.#documents.get(systemId)
    if (bytes === undefined) this.#missing.add(systemId)
    else this.#asked.add(systemId)
    return bytes
  }

  /** Checks for missing documents, which libxml2 ignores in imports. @throws Error that names one */
  checkMissing(): void {
    const [missing] = this.#missing
    if (missing === undefined) return
    const known = [...this.#documents.keys()].join(', ')
    throw new Error(`a schema includes or imports '${missing}': add it under 'schemas' (now: ${known})`)
  }

  /**
   * Checks for unused documents. libxml2 reads one document per namespace and ignores others.
   * @throws Error that names one
   */
  checkUnused(root: string): void {
    for (const systemId of this.#documents.keys()) {
      if (systemId === root || this.#asked.has(systemId)) continue
      throw new Error(
        `the schema '${systemId}' is not used: include it, import its namespace once, or remove it`,
      )
    }
  }
}
