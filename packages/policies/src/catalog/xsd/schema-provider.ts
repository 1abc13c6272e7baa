import { libxml } from '../../engines/xml/libxml.js'
import type { SchemaDocument } from './schema-documents.js'

/** Answers libxml2 when it asks for other documents, while a schema is compiled and at no other time. */
export class SchemaProvider {
  readonly #documents: ReadonlyMap<string, Uint8Array>
  readonly #asked = new Set<string>()
  readonly #missing = new Set<string>()

  constructor(documents: readonly SchemaDocument[]) {
    this.#documents = new Map(documents.map(({ systemId, bytes }) => [systemId, bytes]))
  }

  /** Nothing else may run meanwhile: who provides, provides for the whole process. */
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

  /** libxml2 goes on without a schema that is imported and not there. @throws Error that names it */
  checkMissing(): void {
    const [missing] = this.#missing
    if (missing === undefined) return
    const known = [...this.#documents.keys()].join(', ')
    throw new Error(`a schema includes or imports '${missing}'; add it under 'schemas' (there are: ${known})`)
  }

  /** libxml2 reads one document a namespace, and passes over others. @throws Error that names one */
  checkUnused(root: string): void {
    for (const systemId of this.#documents.keys()) {
      if (systemId === root || this.#asked.has(systemId)) continue
      throw new Error(
        `the schema '${systemId}' is not used; include it, or import its namespace once, or remove it`,
      )
    }
  }
}
