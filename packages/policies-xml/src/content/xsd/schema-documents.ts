import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { XsdConfig } from './schema.js'

/** A schema with all documents that it includes and imports. Can be cloned, and serialized as JSON. */
export interface SchemaDocuments {
  /** System id of the root schema. */
  readonly root: string
  readonly documents: readonly SchemaDocument[]
}

/** A schema document. */
export interface SchemaDocument {
  readonly systemId: string
  readonly bytes: Uint8Array
}

/** Reads the configured schemas. @throws Error for an unreadable file, or a missing or duplicate system id */
export function readSchemas({ schemas, root }: Pick<XsdConfig, 'schemas' | 'root'>): SchemaDocuments {
  const documents = schemas.map((schema, i) => ({
    systemId: systemIdOf(schema, i, schemas.length),
    bytes: bytesOf(schema, i),
  }))
  const ids = documents.map(({ systemId }) => systemId)
  const twice = ids.find((systemId, i) => ids.indexOf(systemId) !== i)
  if (twice !== undefined) throw new Error(`duplicate systemId '${twice}': give each schema its own`)
  if (root === undefined) return { root: ids[0]!, documents }
  if (ids.includes(root)) return { root, documents }
  throw new Error(`the root '${root}' is not the systemId of a schema: use one of ${ids.join(', ')}`)
}

type SchemaSource = XsdConfig['schemas'][number]

/** Matches the encoding declaration. Inline text is stored as UTF-8, whatever it declares. */
const DECLARED_ENCODING = /^(\s*<\?xml[^>]*?)\s+encoding\s*=\s*(?:"[^"]*"|'[^']*')/

function bytesOf({ file, inline }: SchemaSource, i: number): Uint8Array {
  if ((file === undefined) === (inline === undefined))
    throw new Error(`schema ${i + 1} needs either 'file' or 'inline'`)
  if (file === undefined) return Buffer.from(inline!.replace(DECLARED_ENCODING, '$1'))
  try {
    return readFileSync(file)
  } catch (cause) {
    throw new Error(`the schema file '${file}' cannot be read: check its path and permissions`, { cause })
  }
}

function systemIdOf({ systemId, file }: SchemaSource, i: number, count: number): string {
  if (systemId !== undefined) return systemId
  if (file !== undefined) return basename(file)
  if (count === 1) return 'schema.xsd'
  throw new Error(`schema ${i + 1} needs a 'systemId', so that other schemas can refer to it`)
}
