import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { XsdConfig } from './schema.js'

/** A schema and all that it includes and imports; can be cloned, and written as JSON. */
export interface SchemaDocuments {
  /** The system id of the schema where it begins. */
  readonly root: string
  readonly documents: readonly SchemaDocument[]
}

export interface SchemaDocument {
  readonly systemId: string
  readonly bytes: Uint8Array
}

/** Reads what the configuration names. @throws Error for what cannot be read or has no name of its own */
export function readSchemas({ schemas, root }: Pick<XsdConfig, 'schemas' | 'root'>): SchemaDocuments {
  const documents = schemas.map((schema, i) => ({
    systemId: systemIdOf(schema, i, schemas.length),
    bytes: bytesOf(schema, i),
  }))
  const ids = documents.map(({ systemId }) => systemId)
  const twice = ids.find((systemId, i) => ids.indexOf(systemId) !== i)
  if (twice !== undefined) throw new Error(`two schemas have the systemId '${twice}'; give each its own`)
  if (root === undefined) return { root: ids[0]!, documents }
  if (ids.includes(root)) return { root, documents }
  throw new Error(`the root '${root}' is not the systemId of a schema; write one of ${ids.join(', ')}`)
}

type SchemaSource = XsdConfig['schemas'][number]

/** The encoding that a text once had is not the one it is kept in. */
const DECLARED_ENCODING = /^(\s*<\?xml[^>]*?)\s+encoding\s*=\s*(?:"[^"]*"|'[^']*')/

function bytesOf({ file, inline }: SchemaSource, i: number): Uint8Array {
  if ((file === undefined) === (inline === undefined)) {
    throw new Error(`schema ${i + 1} needs either 'file' or 'inline'`)
  }
  if (file === undefined) return Buffer.from(inline!.replace(DECLARED_ENCODING, '$1'))
  try {
    return readFileSync(file)
  } catch (cause) {
    throw new Error(`the schema file '${file}' cannot be read; look for its path and its permissions`, {
      cause,
    })
  }
}

function systemIdOf({ systemId, file }: SchemaSource, i: number, count: number): string {
  if (systemId !== undefined) return systemId
  if (file !== undefined) return basename(file)
  if (count === 1) return 'schema.xsd'
  throw new Error(`schema ${i + 1} needs a 'systemId', by which the others can name it`)
}
