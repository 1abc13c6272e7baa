import type { Catalog } from '@sluice/core'
import { readYaml, type YamlSource } from '@sluice/core/yaml'
import type { DocumentPath } from '../diagnostic/document-path.js'
import { type NormalizedDocument, normalizeDocument } from './normalized.js'

/** The text of a document, as plain data in its current form. */
export interface WrittenDocument
  extends YamlSource,
    Pick<NormalizedDocument, 'deprecations' | 'writtenPath'> {}

/**
 * Parses a document and brings it into its current form. Positions are looked up by paths of that form.
 * @param resolve see `normalizeDocument`
 */
export function readDocument(
  text: string,
  catalog: Catalog,
  resolve?: (text: string) => string | null,
): WrittenDocument {
  const yaml = readYaml(text)
  const { value, deprecations, writtenPath } = normalizeDocument(yaml.value, catalog, resolve)
  const positionOf = (path: DocumentPath, at: 'key' | 'value') => yaml.positionOf(writtenPath(path), at)
  return { ...yaml, value, positionOf, deprecations, writtenPath }
}
