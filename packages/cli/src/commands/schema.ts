import { describedCatalog, editorSchema } from '@sluice/config'
import { catalog } from '@sluice/policies'
import { readDocument, readPluginsOf } from '../input/document.js'
import type { OutputOptions } from '../input/options.js'
import { EXIT } from '../output/failure.js'
import { printText } from '../output/output.js'

interface SchemaOptions extends OutputOptions {
  readonly config?: string
}

/** Prints the JSON Schema of documents, with the built-in policies and those of the document's plugins. */
export async function printSchema({ output, config }: SchemaOptions): Promise<number> {
  const plugins = config === undefined ? [] : await readPluginsOf(await readDocument(config))
  const schema = editorSchema(describedCatalog(catalog, plugins))
  if (output === 'yaml') printText((await import('yaml')).stringify(schema, { aliasDuplicateObjects: false }))
  else printText(`${JSON.stringify(schema, null, 2)}\n`)
  return EXIT.ok
}
