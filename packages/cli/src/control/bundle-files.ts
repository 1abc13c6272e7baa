import { readFileSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { type DocumentSource, normalizeDocument, readYaml, relativePathsOf } from '@sluice/config'
import { type Bundle, bundleOf, DOCUMENT_PATH, MAX_BUNDLE_BYTES } from '@sluice/control-client'
import { catalog } from '@sluice/policies'
import { EXIT, Failure, messageOf } from '../output/failure.js'

/**
 * Creates the bundle of a valid document: the document and the files that it names by relative paths. Files of
 * `${file:PATH}` are secrets and stay on the gateways.
 * @throws Failure if a file cannot be part of a bundle
 */
export function documentBundle(source: DocumentSource): Bundle {
  try {
    return bundleOf(new Map([[DOCUMENT_PATH, Buffer.from(source.text)], ...namedFiles(source)]))
  } catch (error) {
    throw error instanceof Failure ? error : new Failure(messageOf(error), EXIT.invalid)
  }
}

/** Returns the files that a document names by relative paths. @throws Failure */
export function namedFiles({ name, text }: DocumentSource): (readonly [string, Buffer])[] {
  const root: unknown = normalizeDocument(readYaml(text).value, catalog).value
  const paths = relativePathsOf(root, catalog)
  return paths.map((path) => [posix.normalize(path), readRegularFile(dirname(name), path)])
}

function readRegularFile(folder: string, path: string): Buffer {
  const problem = problemOf(join(folder, path))
  if (problem === null) return readFileSync(join(folder, path))
  throw new Failure(
    `the document names '${path}', ${problem}; use an absolute path for folders, plugins and other paths on the gateways`,
    EXIT.invalid,
  )
}

function problemOf(file: string): string | null {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined) return 'which does not exist here'
  if (!stats.isFile()) return 'which is not a regular file'
  return stats.size > MAX_BUNDLE_BYTES ? `which has more than ${MAX_BUNDLE_BYTES} bytes` : null
}
