import { visibleText } from '@sluice/core'
import { readTextFile } from './text-file.js'

/** The text of a document and its name for messages. */
export interface DocumentSource {
  readonly text: string
  readonly name: string
}

const MAX_BYTES = 4 * 1024 * 1024

/** Reads a document from a file. @throws Error that names the file and the reason */
export function readDocumentFile(path: string): DocumentSource {
  try {
    return { text: readTextFile(path, MAX_BYTES), name: path }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`cannot read the document '${visibleText(path)}': ${reason}`, { cause })
  }
}
