import { editorSchema } from '@sluice/config'
import { catalog } from '@sluice/policies'
import { EXIT } from '../failure.js'
import { print, printText } from '../output/output.js'
import type { OutputOptions } from '../program/building.js'

/** Prints the JSON Schema of documents, with the policies of this version. */
export async function printSchema({ output }: OutputOptions): Promise<number> {
  const schema = editorSchema(catalog)
  if (output === 'yaml') printText((await import('yaml')).stringify(schema, { aliasDuplicateObjects: false }))
  else print(JSON.stringify(schema, null, 2))
  return EXIT.ok
}
