import type { Catalog } from '@sluice/core'
import type { Origins } from '../check/origins.js'
import type { ReadFile } from '../file/text-file.js'
import type { PluginSet } from '../plugins/plugin-set.js'
import type { Report } from '../report/report.js'
import type { Document } from '../schema/document.js'

/**
 * Input and output of the semantic checks: each checks its part of the document and adds findings to the
 * report.
 */
export interface Inspection {
  /** The valid parts of the document, with references resolved and defaults filled in. */
  readonly document: Document
  /** Maps list items to their paths in the text. */
  readonly origins: Origins
  /** The whole document with references resolved, including invalid parts. */
  readonly whole: unknown
  /** Catalog including the policies of plugins. */
  readonly catalog: Catalog
  /** Plugins of the document, or why they cannot be used. */
  readonly plugins: PluginSet
  /** Absolute path of the folder of the document, in which relative files are read. */
  readonly folder: string
  readonly readFile: ReadFile
  /** Reads the end of a file that may be large, one character per byte. */
  readonly readEnd: ReadFile
  /**
   * True if a file or folder exists on this machine. Always false if the document is checked for another
   * machine.
   */
  readonly exists: (path: string) => boolean
  readonly report: Report
}
