import {
  formatDiagnostic,
  type Load,
  type LoadResult,
  loadDocument,
  type Overrides,
  readDocumentFile,
} from '@sluice/config'
import { catalog } from '@sluice/policies'
import { EXIT, Failure } from './failure.js'
import { say } from './output/output.js'

/** Checks the document in a file. @throws Failure when the file cannot be read. */
export function checkFile(file: string, overrides: Overrides = {}): LoadResult {
  try {
    return loadDocument(readDocumentFile(file), { catalog, env: process.env, overrides })
  } catch (error) {
    throw new Failure(EXIT.invalid, (error as Error).message)
  }
}

/** Loads the document in a file; warnings go to stderr. @throws Failure with every mistake. */
export function loadFile(file: string, overrides: Overrides = {}): Load {
  const result = checkFile(file, overrides)
  if (!result.ok) throw new Failure(EXIT.invalid, result.diagnostics.map(formatDiagnostic).join('\n'))
  for (const warning of result.warnings) say(formatDiagnostic(warning))
  return result.load
}
