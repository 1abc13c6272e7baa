import type { Catalog } from '@sluice/core'
import type { Origins } from '../check/origins.js'
import type { PluginSet } from '../plugins/plugin-set.js'
import type { Report } from '../report.js'
import type { Document } from '../schema/document.js'
import type { ReadFile } from '../text-file.js'

/** What the checks of meaning work on: each looks at its part and adds what it finds to the report. */
export interface Inspection {
  /** The parts that satisfy the schema, references resolved, defaults filled. */
  readonly document: Document
  /** Leads from the items of the document's lists to their paths in the text. */
  readonly origins: Origins
  /** The whole document with its references resolved, sound or not. */
  readonly whole: unknown
  /** With the policies of plugins. */
  readonly catalog: Catalog
  /** What became of the names under `plugins`. */
  readonly plugins: PluginSet
  /** The folder of the document, absolute; relative files are read there. */
  readonly folder: string
  readonly readFile: ReadFile
  /** The end of a file that may be large, a character for each byte. */
  readonly readEnd: ReadFile
  /** Whether there is such a file or folder on this machine; false where the document is checked for another one. */
  readonly exists: (path: string) => boolean
  readonly report: Report
}
