import { caseEditorSchema, describedCatalog, displayPlan, editorSchema } from '@sluice/config'
import { catalog } from '@sluice/policies'
import type { CreateNodeOptions, ToStringOptions } from 'yaml'
import { loadFile, readDocument, readPluginsOf } from '../input/document.js'
import type { DocumentOptions, OutputOptions } from '../input/options.js'
import { type Format, printData } from '../output/output.js'

/** Prints the plan of a document without secrets. A plan has its own version number. */
export async function render({ config, output }: DocumentOptions & OutputOptions): Promise<void> {
  await printWhole(displayPlan((await loadFile(config)).plan, catalog), output)
}

/**
 * Prints the JSON Schema of documents, with the built-in policies and those of the document's plugins, or that of case
 * files.
 */
export async function printSchema({
  output,
  config,
  tests,
}: OutputOptions & Partial<DocumentOptions> & { readonly tests?: boolean }): Promise<void> {
  if (tests === true) return printWhole(caseEditorSchema(), output, { aliasDuplicateObjects: false })
  const plugins = config === undefined ? [] : await readPluginsOf(await readDocument(config))
  await printWhole(editorSchema(describedCatalog(catalog, plugins)), output, { aliasDuplicateObjects: false })
}

/** Prints a value without the version that other results have. */
async function printWhole(
  value: object,
  output: Format,
  options: ToStringOptions & CreateNodeOptions = {},
): Promise<void> {
  if (output === 'yaml') printData((await import('yaml')).stringify(value, options))
  else printData(`${JSON.stringify(value, null, 2)}\n`)
}
