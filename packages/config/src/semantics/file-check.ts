import { isAbsolute, relative, resolve } from 'node:path'
import type { DocumentPath } from '../diagnostic/document-path.js'
import type { Inspection } from './inspection.js'

/** Marker before the metadata at the end of a database (MaxMind DB file format 2.0, "Database Metadata"). */
const METADATA_MARKER = '\xab\xcd\xefMaxMind.com'

/** Checks that a certificate or key file exists and is PEM. */
export function checkPemFile(inspection: Inspection, file: string, path: DocumentPath): void {
  const findProblem = () => (inspection.readFile(file).includes('-----BEGIN ') ? null : 'is not a PEM file')
  checkFile(inspection, { file, path, findProblem })
}

/** Checks that an OCSP response exists and is DER: it starts with the tag of a SEQUENCE, 0x30. */
export function checkOcspFile(inspection: Inspection, file: string, path: DocumentPath): void {
  const findProblem = () =>
    inspection.readEnd(file).startsWith('0') ? null : 'is not an OCSP response in DER'
  checkFile(inspection, { file, path, findProblem })
}

/** Checks that a geolocation database exists and has the right format. */
export function checkGeoDatabase(inspection: Inspection, file: string, path: DocumentPath): void {
  const findProblem = () =>
    inspection.readEnd(file).includes(METADATA_MARKER) ? null : 'is not a database in MaxMind DB format'
  checkFile(inspection, { file, path, findProblem })
}

/** Checks that a kubeconfig exists and names a cluster. Its other content is checked when it is used. */
export function checkKubeconfig(inspection: Inspection, file: string, path: DocumentPath): void {
  const findProblem = () => (inspection.readFile(file).includes('clusters') ? null : 'is not a kubeconfig')
  checkFile(inspection, { file, path, findProblem })
}

interface NamedFile {
  readonly file: string
  readonly path: DocumentPath
  /** Returns the problem with its content, or null. @throws Error if it cannot be read */
  findProblem(): string | null
}

function checkFile(inspection: Inspection, { file, path, findProblem }: NamedFile): void {
  const { report } = inspection
  if (!report.isValid(path)) return
  const problem = problemOf(findProblem)
  if (problem === null) return
  const message = `${String(path.at(-1))} ${report.quote(file, path)} ${problem}`
  report.add({ path, message, remedy: remedyFor(inspection, file), ofMachine: true })
}

/**
 * Returns the remedy. A path that exists relative to the working directory is shown as it must be written.
 */
function remedyFor({ folder, exists }: Inspection, file: string): string {
  if (isAbsolute(file)) return 'check the file and its path'
  const isElsewhere = resolve(file) !== resolve(folder, file) && exists(resolve(file))
  if (isElsewhere)
    return `paths are relative to the folder of the document: write ${relative(folder, resolve(file))}`
  return 'check the file and its path, which is relative to the folder of the document'
}

function problemOf(findProblem: NamedFile['findProblem']): string | null {
  try {
    return findProblem()
  } catch (cause) {
    return `cannot be read: ${reasonOf(cause)}`
  }
}

/**
 * Returns the reason without system messages, which contain the path and could reveal the value of a
 * reference.
 */
function reasonOf(cause: unknown): string {
  return cause instanceof Error && !('code' in cause) ? cause.message : 'the file cannot be opened'
}
